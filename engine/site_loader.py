"""From a site file to what it changes: parameters set, silences, actions added; every error noted with its place."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from msgspec.structs import replace

from neuron_doctor.engine.digests import sha256
from neuron_doctor.engine.errors import Location
from neuron_doctor.engine.packfiles import PackFile
from neuron_doctor.engine.parameters import BadValue
from neuron_doctor.engine.shapes import converted
from neuron_doctor.engine.site import Gone, Silence, Site
from neuron_doctor.engine.sitefile import SilenceDoc, SiteActionDoc, SiteDoc
from neuron_doctor.engine.unlinked import Unlinked, near
from neuron_doctor.engine.yamlfile import Document

#: So many parameters of one name are told where their rule is missing.
_NAMED = 3


class _Names:
    """Who takes note of names that no pack has: as errors, or (`forgiving`) as what is left out."""

    def __init__(self, loader: Unlinked, *, forgiving: bool) -> None:
        self._loader = loader
        self._forgiving = forgiving
        self.gone: list[Gone] = []

    def missing(self, where: Location, said: str, hint: str) -> None:
        """Nothing is called so."""
        if self._forgiving:
            self.gone.append(Gone(where.line, said, hint))
        else:
            self._loader.complain(where, said, hint)

    def there(
        self, doc: SilenceDoc | SiteActionDoc, document: Document, keys: tuple[str | int, ...]
    ) -> tuple[list[str], list[str]]:
        """The rules and causes that are meant and there."""
        loader = self._loader
        if not doc.rules and not doc.causes:
            said = "it names neither rules nor causes, so it is about no finding"
            loader.complain(document.at(*keys), said, "add rules: [ID] or causes: [ID]", "value")
        for word, names, known in (("rule", doc.rules, loader.rules), ("cause", doc.causes, loader.causes)):
            for i, name in enumerate(names):
                if name not in known and name not in loader.unread:
                    where = document.value(*keys, f"{word}s", i)
                    self.missing(where, f"there is no {word} {name!r}", near(name, known))
        return [name for name in doc.rules if name in loader.rules], [
            name for name in doc.causes if name in loader.causes
        ]


def take_site(loader: Unlinked, file: PackFile, document: Document | None, *, forgiving: bool = False) -> Site | None:
    """The site of a file, after its parameters were set and its actions noted; the packs must have been read. None where it
    cannot be understood, which is noted. A `forgiving` reader leaves out what is about a rule, a cause or a parameter that is
    gone, for a diagnosis is worth more than a site file that is up to date."""
    names = _Names(loader, forgiving=forgiving)
    doc = converted(loader, document, SiteDoc) if document else None
    if document is None or doc is None:
        return None
    for name in doc.parameters:
        _tune(loader, name, doc, document, names)
    silences = [_silence(loader, one, document, i, names) for i, one in enumerate(doc.silences)]
    for i, action in enumerate(doc.actions):
        names.there(action, document, ("actions", i))
    loader.added.extend(doc.actions)
    lasting = tuple(silence for silence in silences if silence.rules or silence.causes)
    tuned = tuple(parameter for _, parameter in sorted(loader.parameters.items()) if parameter.tuned)
    return Site(
        doc.name, sha256(file.content).hexdigest(), tuned, lasting, added=tuple(doc.actions), gone=tuple(names.gone)
    )


def _tune(loader: Unlinked, name: str, doc: SiteDoc, document: Document, names: _Names) -> None:
    parameter = loader.parameters.get(name)
    if parameter is None:
        if loader.unread.isdisjoint(name.split(".")):
            said = f"there is no parameter {name!r}"
            names.missing(document.at("parameters", name), said, _meant(name, sorted(loader.parameters)))
        return
    where = document.value("parameters", name)
    try:
        parameter.check(doc.parameters[name])
    except BadValue as error:
        loader.complain(where, f"{name}: {error}", "", "value")
        return
    value, declared = doc.parameters[name], parameter.location
    loader.parameters[name] = replace(parameter, value=value, location=where, declared=declared, tuned=True)


def _meant(name: str, known: Sequence[str]) -> str:
    """Which parameter was probably meant: one that is called so behind the name of its rule, else the nearest."""
    called = [repr(one) for one in known if one.rpartition(".")[2] == name]
    return (
        f"did you mean {' or '.join(called[:_NAMED])}?" if called else near(name, known) or "`rules packs` lists them"
    )


def _silence(loader: Unlinked, doc: SilenceDoc, document: Document, number: int, names: _Names) -> Silence:
    """What is left of a silence: of one that was about nothing that is there, neither rules nor causes."""
    keys = ("silences", number)
    rules, causes = names.there(doc, document, keys)
    try:
        date.fromisoformat(doc.until)
    except ValueError:
        loader.complain(
            document.value(*keys, "until"),
            f"until: {doc.until} is no day",
            "look at the number of the month and of the day",
            "value",
        )
    return Silence(tuple(rules), tuple(causes), tuple(doc.hosts), tuple(doc.devices), doc.until, doc.reason.strip())


def added_to(rule: str, cause: str, added: Sequence[SiteActionDoc], *, first: bool) -> list[SiteActionDoc]:
    """The steps that a rule gets before, or behind, its own."""
    return [one for one in added if one.first is first and (rule in one.rules or cause in one.causes)]
