"""assistant-ui: runs as operations on the state of a page, stored branches as its messages, errors."""
