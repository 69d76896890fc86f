"""The simulated model as a web designer: it writes pages with `create_file`, and changes them with `edit_file`."""
