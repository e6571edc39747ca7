"""What a file may be named after: a pod, a host, a job."""

from __future__ import annotations

from collections.abc import Iterator


def names_of_file(path: str) -> Iterator[str]:
    """Every part of its path, as a whole, up to each dot, and up to what stands in no name of a pod
    (`vit-w-0-1_ip-10-8-2-71.log`)."""
    for part in path.replace("!", "/").split("/"):
        at = part.find(".")
        while at > 0:
            yield part[:at]
            at = part.find(".", at + 1)
        yield part
        name, behind, _ = part.partition("_")
        if behind and name and "." not in name:
            yield name
