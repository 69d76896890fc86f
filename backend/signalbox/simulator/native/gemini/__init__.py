"""Gemini's API: `generateContent`, `streamGenerateContent` and the model list."""

from .routes import ROUTES

__all__ = ["ROUTES"]
