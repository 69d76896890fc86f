"""An OpenRouter that runs here: it speaks the wire from the facts and imports nothing of the rest of signalbox."""

from .http.app import create_simulator

__all__ = ["create_simulator"]
