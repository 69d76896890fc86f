"""Clients of OpenAI and OpenRouter, over HTTP."""
