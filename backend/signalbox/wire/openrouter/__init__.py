"""Chat completions of OpenRouter and of OpenAI-compatible servers: requests, answers, errors, catalogue."""
