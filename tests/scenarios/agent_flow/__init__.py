"""A model that creates and edits files, over HTTP with a scripted provider, on both loops."""
