"""Tools that work on the text files of a conversation, one per file. `edits` and `line_diff` have no I/O."""
