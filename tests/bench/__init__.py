"""The hot path measured: upstream, server, byte relay and load client, each a process of its own."""
