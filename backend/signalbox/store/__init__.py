"""Runs, conversations, saves and tokens in SQLite or PostgreSQL."""
