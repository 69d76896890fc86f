"""The scenarios that every loop must get right, through the whole app over HTTP."""
