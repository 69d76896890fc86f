"""The run as a separate task: start, watch, stop."""
