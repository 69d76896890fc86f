"""What one user and one process may do at once or in a period of time."""
