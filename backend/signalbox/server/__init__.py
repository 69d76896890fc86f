"""Processes: the server, the supervisor of several workers, and how a port passes between them."""
