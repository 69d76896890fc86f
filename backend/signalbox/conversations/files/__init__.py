"""The files of conversations: their paths, the versions on a branch, and changes."""
