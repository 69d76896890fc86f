"""The fault storm: thousands of runs that fail in every way, and a check for leaks afterwards."""
