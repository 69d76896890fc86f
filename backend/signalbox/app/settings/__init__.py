"""Errors of settings. The settings themselves are in `app/config.py`."""
