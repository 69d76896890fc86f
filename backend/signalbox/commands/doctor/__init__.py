"""`signalbox doctor`: looks at everything a server needs, changes nothing, and says what to do."""
