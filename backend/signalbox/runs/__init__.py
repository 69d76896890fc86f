"""The run as a task of its own: start, watch, stop."""
