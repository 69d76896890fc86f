"""Bytes and JSON to values and back; the only place that names a provider's JSON keys."""
