"""I/O: HTTP, search, pages and notes, the model catalogue, tool execution."""
