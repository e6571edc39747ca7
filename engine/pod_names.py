"""What Kubernetes adds to the names of pods: letters and digits of which no words can be made (apimachinery, util/rand)."""

from __future__ import annotations

_LETTER = r"[bcdfghjklmnpqrstvwxz2456789]"
#: Behind the name of what controls a pod (a Job, a ReplicaSet, a DaemonSet), as an expression.
SUFFIX = rf"{_LETTER}{{5}}"
#: The same where two numbers stand before it: people who copy a name shorten it.
SHORTENED = rf"{_LETTER}{{1,5}}"
