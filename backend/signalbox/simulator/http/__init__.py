"""The HTTP face: routes, requests as they are read, answers as they are written."""
