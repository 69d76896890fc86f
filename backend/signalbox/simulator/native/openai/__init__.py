"""OpenAI's own API: POST /responses, POST /chat/completions, GET /models and GET /models/{id}, below /v1."""

from .routes import ROUTES

__all__ = ["ROUTES"]
