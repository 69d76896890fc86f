"""The tool runner as a library: each test names the row of today's tool runners (TR-01 …) that it improves on."""
