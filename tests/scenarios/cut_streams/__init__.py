"""Endings are honest: ten streams, cut at every place, in both loops."""
