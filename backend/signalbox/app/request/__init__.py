"""Reading requests: bodies within limits, query parameters, paging, Idempotency-Key."""
