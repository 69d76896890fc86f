"""The two loops, the stepper that they share, and the driver that guarantees the ending of a run."""
