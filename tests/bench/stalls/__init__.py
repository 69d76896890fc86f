"""Hostile input against the real server: how long each shape takes, and how long `/health/live` waits meanwhile."""
