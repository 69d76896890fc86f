"""Pages built with assistant-ui, over HTTP."""
