"""Encodes events as bytes, one file per client protocol; checks captured streams."""
