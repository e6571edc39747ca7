"""What a check says, of a part of a rule file; where that part stands is looked up for what is told, and only then."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from neuron_doctor.engine.errors import RuleError
from neuron_doctor.engine.yamlfile import Document, Path


class Remark(Struct, frozen=True):
    """A check that fails in the file `path`, in what stands at `keys`; of text there, in `width` characters after `skip`."""

    check: str
    path: str
    keys: Path
    message: str
    hint: str = ""
    skip: int = 0
    width: int = 0


def located(remark: Remark, documents: Callable[[str], Document]) -> RuleError:
    """The remark with its line and column."""
    where = documents(remark.path).value(*remark.keys, skip=remark.skip, width=remark.width)
    return RuleError(where, remark.message, remark.hint, remark.check)
