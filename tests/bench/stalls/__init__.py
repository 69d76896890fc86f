"""`just bench-stalls`: hostile input for a real server, and the response time of `/health/live` meanwhile."""
