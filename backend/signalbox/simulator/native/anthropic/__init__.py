"""Anthropic's Messages API: POST /v1/messages, POST /v1/messages/count_tokens, GET /v1/models."""

from .routes import ROUTES

__all__ = ["ROUTES"]
