"""The synchronous client, written by make_sync.py."""
