"""What guards a run and its server: API tokens, delimited untrusted text, the URL allowlist."""
