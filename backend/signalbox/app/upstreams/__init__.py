"""The upstreams that the settings name."""
