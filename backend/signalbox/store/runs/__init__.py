"""Runs and their journals on disk: written in batches, read back, leased, forgotten."""
