"""One or more tests for each known quirk of models, providers and clients, with its id in the name."""
