"""One tool per file: schema, metadata, and a function of (arguments, ToolContext)."""
