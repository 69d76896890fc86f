"""Faults in the content of answers and in their transport."""
