"""The Responses API, as OpenAI, Azure, xAI, OpenRouter, LM Studio and others serve it."""
