"""A hostile upstream: responses in shapes that could stall a server or fill its memory, in any size."""
