"""Upstream APIs: requests to bytes and bytes to parts. Only here are providers' JSON keys, headers and paths."""
