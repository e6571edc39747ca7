"""One file for each renderer; knows the verdict only."""
