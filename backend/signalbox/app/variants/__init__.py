"""Variants: several runs that answer one question of a conversation."""
