"""Metrics for Prometheus: what is counted, by which labels, and how several workers are added up."""
