"""One file per group of endpoints."""
