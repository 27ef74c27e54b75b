"""From installed distributions and configuration to an ordered set of plugins, or errors with the mend."""
