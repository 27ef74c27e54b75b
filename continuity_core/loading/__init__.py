"""From installed distributions and configuration to an ordered set of plugins, or to errors that say what to mend."""
