"""Checks of the order of a run's events."""
