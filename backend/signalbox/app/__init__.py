"""HTTP: the only importer of FastAPI."""
