"""`just bench-peers`: other servers under the same loads."""
