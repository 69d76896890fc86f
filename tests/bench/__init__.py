"""Benchmarks: upstream, server, relay and load client run as separate processes."""
