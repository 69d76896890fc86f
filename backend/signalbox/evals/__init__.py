"""Evals: asks models the questions of a set file, checks the answers, and writes results and a report."""
