"""Tests of replays: runs made again from their journals, and both loops compared."""
