"""Logs: their format, what they may hold, and the lines of runs and rejected requests."""
