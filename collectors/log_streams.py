"""What members are called that hold the streams of CloudWatch Logs: a path that says where the records are from."""

from __future__ import annotations

from neuron_doctor.collectors.hints import OF_INSIGHTS, place_of_path
from neuron_doctor.engine.regexes import regex

#: The link that kubelet made for a container, in the tag that Fluent Bit gives its log (`kube.var.log.containers.<link>`, too).
_OF_A_CONTAINER = regex(r"(?:.{0,300}[.-])?var\.log\.containers\.(?P<link>[\w.-]{1,400}\.log)")
#: What separates the parts of paths, and what no part is called.
_NO_NAME = regex(r"[!\x00-\x1f]|(?<![^/])\.{1,2}(?=/|$)")
#: A stream that nothing names.
UNNAMED = "events"


def member_of_stream(stream: str) -> str:
    """The name of the member for a stream. One whose name tells no host, instance or rank is called as a pod may be."""
    linked, tagged = _OF_A_CONTAINER.fullmatch(stream), OF_INSIGHTS.fullmatch(stream)
    if tagged:
        return clean(f"nodes/{tagged['host']}/{linked['link'] if linked else tagged['tag']}")
    if linked:
        return clean(f"streams/{linked['link']}")
    if not stream.strip("/"):
        return UNNAMED
    place = place_of_path(f"streams/{stream}")
    told = place.host or place.instance_id or place.rank is not None
    return clean(f"streams/{stream}" if told else f"pods/{stream.replace('/', '_')}")


def clean(name: str) -> str:
    """The name without what would lead out of its archive, or into another one."""
    return _NO_NAME.sub("_", name)
