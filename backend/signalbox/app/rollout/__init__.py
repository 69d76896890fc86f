"""The endpoints of the rollout."""
