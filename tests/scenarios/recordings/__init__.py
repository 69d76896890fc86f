"""Recordings of real providers, compared with the decoder and the loops."""
