"""The HTTP interface: routes, parsed requests, encoded answers."""
