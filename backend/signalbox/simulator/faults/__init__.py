"""Scripted faults, in the content of answers and in their transport."""
