"""The tool runner as a library: a run in a Python program, without the server. `signalbox` exports its public names."""
