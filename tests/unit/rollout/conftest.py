"""A server with a fresh database for each test."""

from tests.unit.rollout.rollout_server import server

__all__ = ["server"]
