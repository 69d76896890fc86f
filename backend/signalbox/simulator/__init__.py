"""A local imitation of OpenRouter's API; imports nothing from the rest of signalbox."""

from .http.app import create_simulator

__all__ = ["create_simulator"]
