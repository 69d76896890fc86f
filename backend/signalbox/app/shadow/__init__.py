"""Shadow mode: a share of the runs is made again on the other loop, without effects."""
