"""OpenRouter's dialect, and that of every OpenAI-compatible host: requests, streams, whole bodies, errors."""
