"""Scripted faults: in what is said, and in how it is sent."""
