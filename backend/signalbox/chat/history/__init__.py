"""The conversation that a model is sent: repaired, paired, ordered and cut to the context window, on a copy."""
