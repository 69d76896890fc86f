"""A hostile upstream: answers of every shape that could stall a server or fill its memory, in any size."""
