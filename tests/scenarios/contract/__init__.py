"""Tests of the contract v1.1."""
