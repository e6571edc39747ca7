"""What the lint of rules says beyond what already stops them from loading."""
