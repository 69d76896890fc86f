"""`just compare-runners`: Signalbox's Runner and other tool runners on the same scripted cases."""
