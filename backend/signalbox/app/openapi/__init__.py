"""The description of the HTTP API: the OpenAPI document, and the types of request bodies and responses."""
