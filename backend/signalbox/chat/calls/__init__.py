"""The calls of a model: assembled from deltas, repaired, executed."""
