"""The conversation that a model is sent: repaired, paired, ordered and truncated to the context window, as a copy."""
