"""Members of decoded JSON or YAML, whatever stands there instead: what is missing or of another type is empty."""

from __future__ import annotations

import re

#: No real object has more containers, conditions or taints.
_MANY = 128


def dig(value: object, *keys: str) -> object:
    """The member of a member; None where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text(value: object, key: str) -> str:
    """A member as text; empty where it is none and no number."""
    found = dig(value, key)
    return str(found) if isinstance(found, str | int | float) else ""


def number(value: object, key: str) -> int:
    """A member as a whole number; 0 where it is none."""
    found = text(value, key)
    return int(found) if re.fullmatch(r"-?\d{1,12}", found) else 0


def listed(value: object, *keys: str) -> list[object]:
    """The first elements of a list."""
    return all_of(value, *keys)[:_MANY]


def all_of(value: object, *keys: str) -> list[object]:
    """The elements of a list that may be of any length."""
    found = dig(value, *keys)
    return found if isinstance(found, list) else []


def strings(value: object) -> dict[str, str]:
    """The members of an object as text."""
    return {key: str(found) for key, found in value.items()} if isinstance(value, dict) else {}
