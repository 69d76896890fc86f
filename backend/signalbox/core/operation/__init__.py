"""Types of what an operator manages."""
