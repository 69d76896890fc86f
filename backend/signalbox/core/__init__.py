"""The vocabulary: pure values that every other part of Signalbox speaks in."""
