"""The answer of a model: folded from parts, filtered, bounded."""
