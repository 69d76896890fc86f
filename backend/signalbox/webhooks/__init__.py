"""Webhooks: signed events for receivers that the operator has registered."""
