"""Tests of models and tool loops: always with the simulator, on request with the real OpenRouter."""
