"""OpenAI's own API: POST /v1/responses, GET /v1/models and GET /v1/models/{id}."""

from .routes import ROUTES

__all__ = ["ROUTES"]
