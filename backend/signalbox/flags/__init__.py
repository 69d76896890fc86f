"""Which loop drives a run, and why."""
