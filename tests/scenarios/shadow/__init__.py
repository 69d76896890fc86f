"""Shadow mode."""
