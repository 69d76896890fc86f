"""Tests of the documentation: what it names exists, what exists is named, what it shows runs."""
