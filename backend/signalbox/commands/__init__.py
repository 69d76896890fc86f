"""Commands of the CLI beside the server: backup, doctor, replay, parity, token."""
