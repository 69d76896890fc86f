"""Collects, filters and limits the reply of a model."""
