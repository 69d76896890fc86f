"""Scenarios for both loops, through the whole app over HTTP."""
