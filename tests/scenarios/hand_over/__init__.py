"""Calls of the client's tools are handed over, and the next request continues the run."""
