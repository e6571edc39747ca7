"""What members are called that hold the streams of CloudWatch Logs: a path that says where the records are from."""

from __future__ import annotations

from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.engine.regexes import regex

#: Container Insights: the node, the log group, and the link that kubelet made for the container.
_OF_A_CONTAINER = regex(r"(?P<node>[\w.-]{1,253}?)-application\.var\.log\.containers\.(?P<link>[\w.-]{1,400}\.log)")
#: What separates the parts of paths, and what no part is called.
_NO_NAME = regex(r"[!\x00-\x1f]|(?<![^/])\.{1,2}(?=/|$)")
#: A stream that nothing names.
UNNAMED = "events"


def member_of_stream(stream: str) -> str:
    """The name of the member for a stream. One whose name tells no host, instance or rank is called as a pod may be."""
    if linked := _OF_A_CONTAINER.fullmatch(stream):
        return clean(f"nodes/{linked['node']}/{linked['link']}")
    if not stream.strip("/"):
        return UNNAMED
    place = place_of_path(f"streams/{stream}")
    told = place.host or place.instance_id or place.rank is not None
    return clean(f"streams/{stream}" if told else f"pods/{stream.replace('/', '_')}")


def clean(name: str) -> str:
    """The name without what would lead out of its archive, or into another one."""
    return _NO_NAME.sub("_", name)
