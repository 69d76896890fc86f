"""AG-UI over HTTP."""
