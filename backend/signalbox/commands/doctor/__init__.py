"""`signalbox doctor`: checks everything that a server needs, without changes, and suggests fixes."""
