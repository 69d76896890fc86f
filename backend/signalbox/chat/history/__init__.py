"""Builds the messages that a model receives: repaired, paired, ordered, and truncated to the context window."""
