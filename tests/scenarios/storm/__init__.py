"""The fault storm: thousands of runs that break in every way, and what is left behind afterwards."""
