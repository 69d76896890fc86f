"""The tests of Signalbox."""
