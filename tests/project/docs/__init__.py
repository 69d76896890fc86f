"""Tests of the documentation: named things exist, existing things are documented, examples run."""
