"""A request to the core's values: read within limits, parsed, validated, mapped."""
