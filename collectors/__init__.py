"""One file for each kind of source; knows formats, knows no rule; yields facts."""
