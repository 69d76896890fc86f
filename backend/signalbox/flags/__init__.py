"""The feature flag TOOL_LOOP_V2: its stored override, and the loop of each run."""
