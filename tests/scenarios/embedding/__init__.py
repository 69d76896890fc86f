"""Signalbox inside another app, or under a path prefix."""
