"""Runs as asyncio tasks: starts, streams, stops and recovers them, and settles their cost."""
