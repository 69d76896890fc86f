"""The HTTP/1.1 client for upstreams: httpx on top, with our own pool, connection and protocol beneath."""
