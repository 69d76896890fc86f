"""One test or more for each known quirk of models, hosts and clients, its id in the name."""
