"""Access and untrusted input: API tokens, delimited untrusted text, the URL allowlist."""
