"""Upstream APIs: encodes requests, decodes answers to parts. Only this folder has providers' JSON keys and paths."""
