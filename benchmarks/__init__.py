"""Measurements that anybody can run again: `python -m benchmarks.<name>` from the top of the repository."""
