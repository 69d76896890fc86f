"""Replays runs from their journals on either loop, with recorded tool results, and compares the outcomes."""
