"""What concerns the whole process: its data folder, memory, garbage collection, and its place in a cluster."""
