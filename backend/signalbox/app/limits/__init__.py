"""Limits of one user and of the server: rates, concurrent runs, open streams."""
