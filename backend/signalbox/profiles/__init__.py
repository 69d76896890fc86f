"""Facts about model families; no logic."""
