"""Events to bytes: one client protocol per file."""
