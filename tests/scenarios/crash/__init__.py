"""Servers that are stopped or killed, as real processes on a data folder that remains."""
