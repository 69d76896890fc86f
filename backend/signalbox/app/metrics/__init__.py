"""Connects the metrics with the app, and answers scrapes."""
