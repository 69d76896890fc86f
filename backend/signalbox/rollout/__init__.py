"""The guarded rollout of V2: a plan in stages, and a sequential test that takes V2 back on a regression."""
