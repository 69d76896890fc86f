"""The process: data folder lock, memory, garbage collection, warm-up, and membership of a cluster."""
