"""Everything that does I/O."""
