"""Names that the storm's processes share."""

INSIDE = "/inside"
# As long as save_note, so that every byte of the ten streams keeps its position.
WRITES = "note_down"
