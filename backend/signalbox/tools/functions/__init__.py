"""`@tool`: tools that are made of functions."""
