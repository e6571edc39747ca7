"""Facts, the rule language, matching, time, topology, the causal graph and the verdict; knows no format."""
