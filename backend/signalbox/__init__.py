"""Signalbox: one chat endpoint for every model, with tools that always work."""

__version__ = "0.1.0"
