"""Providers' own APIs, served beside OpenRouter's: one folder for each dialect, one row for each in `table`."""
