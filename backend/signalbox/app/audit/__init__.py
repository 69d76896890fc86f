"""The audit log in the app: its endpoint, and the entries about changes over HTTP."""
