"""What the recordings of real providers say, against what the code understands."""
