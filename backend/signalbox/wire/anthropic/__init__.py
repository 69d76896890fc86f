"""Anthropic's Messages API, also as proxies and other providers serve it."""
