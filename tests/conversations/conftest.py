"""Conversations over HTTP, with a scripted provider that shows what a model is told."""

from tests.support.fixtures import behind, no_waiting

__all__ = ["behind", "no_waiting"]
