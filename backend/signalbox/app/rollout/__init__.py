"""The endpoints of the rollout and its audit log."""
