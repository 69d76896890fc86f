"""Other people's servers under the same loads as ours: `just bench-peers`."""
