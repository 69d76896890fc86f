"""Servers that are told to stop and servers that are killed, as real processes on a data folder that outlives them."""
