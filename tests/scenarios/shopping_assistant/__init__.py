"""The acceptance rows of the shopping assistant (ME-01 to ME-15), over HTTP."""
