"""Conversations as trees: where a question stands, what its model is reminded of, titles, search, export."""
