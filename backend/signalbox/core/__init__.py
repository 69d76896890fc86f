"""The types that the other folders share, and the rules that need only these types; no I/O."""
