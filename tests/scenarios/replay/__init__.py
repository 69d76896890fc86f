"""Tests of `signalbox replay` and `signalbox parity`."""
