"""What each client protocol asks: its request, read into an Ask."""
