"""A chat can always go on: after any cut, with any family, in any length."""
