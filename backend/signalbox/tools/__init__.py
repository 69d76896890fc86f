"""The built-in tools, one per file: schema, metadata and a function of (arguments, ToolContext). Plugins."""
