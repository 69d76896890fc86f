"""Raw ASGI and uvicorn: streaming, security, compression, static files."""
