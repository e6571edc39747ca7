"""The version, as a constant: importlib.metadata would cost 34 ms at every start."""

VERSION = "0.1.0"
