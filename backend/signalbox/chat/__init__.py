"""The loops: a conversation goes in, events come out; no framework, no HTTP client, no wire JSON."""
