"""Several upstreams: their file, the routes between them, and which of them work."""
