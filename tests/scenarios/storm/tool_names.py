"""What the storm's processes agree on."""

INSIDE = "/inside"
# As long as save_note, so that every byte of the ten streams keeps its place.
WRITES = "note_down"
