"""Conversations as trees: placing questions, histories for models, titles, search excerpts, export."""
