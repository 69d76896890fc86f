"""The two loops, the stepper that both use, and the driver that guarantees their ending."""
