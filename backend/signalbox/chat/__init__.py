"""Turns a conversation into events: the two loops and what they share; no HTTP, no provider JSON."""
