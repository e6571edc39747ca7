"""Labelled incidents, the demo among them, and the simulator that makes more."""
