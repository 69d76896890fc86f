"""The package `@signalbox/client` as its users install it."""
