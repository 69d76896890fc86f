"""The two loops, the driver that guarantees their ending, and the decisions that both make alike."""
