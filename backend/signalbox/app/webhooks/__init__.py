"""Webhooks in the app. The queue itself is in the package `signalbox.webhooks`."""
