"""The steps on the way to a verdict: each asks one kind of evidence, and says nothing where it has none."""
