"""Ten streams, cut at every position, in both loops: every run has an honest ending."""
