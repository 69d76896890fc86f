"""The plan's matrix of models and cases: always against the simulator, on request against the real OpenRouter."""
