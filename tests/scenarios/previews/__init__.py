"""Previews of files while the model writes them, over HTTP and by size."""
