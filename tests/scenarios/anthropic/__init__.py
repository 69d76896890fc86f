"""Models behind Anthropic's API, in the whole app."""
