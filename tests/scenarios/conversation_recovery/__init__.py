"""A chat can continue after any interruption, with any model family and at any length."""
