"""What of a pattern's expression is looked for in whole blocks: less than the expression says, never more, and quicker to find.

The expression itself then decides on the line. So all that matters here is that no line is lost, and that a line which holds a
match makes few events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.regexes import regex

#: What may follow an atom to make it optional or repeated, and what is no literal character.
_QUANTIFIER = regex(r"[*?]|\{\d*,?\d*\}")
_PLUS = regex(r"\+")
_CLASS = regex(r"\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]")
_SPECIAL = set(".^$*+?{}[]\\|()")


def _split_atoms(regex: str) -> Iterator[str]:
    """The atoms of a regex at its top level: single characters, escapes, classes, whole groups, and their quantifiers."""
    i = 0
    while i < len(regex):
        end = _atom_end(regex, i)
        yield regex[i:end]
        i = end


def _atom_end(regex: str, i: int) -> int:
    if regex[i] == "\\":
        return i + 2
    if found := _CLASS.match(regex, i):
        return found.end()
    if regex[i] == "(":
        return group_end(regex, i)
    quantifier = _QUANTIFIER.match(regex, i) or _PLUS.match(regex, i)
    return quantifier.end() if quantifier else i + 1


def group_end(regex: str, i: int) -> int:
    """Where the group that opens at `i` has been closed."""
    depth, end = 1, i + 1
    while depth and end < len(regex):
        step = _atom_end(regex, end) if regex[end] in "\\[" else end + 1
        depth += {"(": 1, ")": -1}.get(regex[end], 0)
        end = step
    return end


def required_literal(regex: str) -> bytes:
    """The longest run of plain characters that every match contains; empty where none is sure (alternatives at the top
    level, ignored case)."""
    atoms = list(_split_atoms(regex))
    if "|" in atoms or "(?i" in regex:
        return b""
    runs, run = [""], ""
    for atom, following in zip(atoms, [*atoms, ""][1:], strict=True):
        character = literal_of(atom)
        optional = bool(following) and bool(_QUANTIFIER.fullmatch(following))
        repeated = following == "+"
        run = run + character if character and not optional else ""
        runs.append(run)
        if atom[0] == "(" and not optional and (inner := _PLAIN_GROUP.match(atom)):
            runs.append(required_literal(atom[inner.end() : -1]).decode())
        if repeated:
            run = ""
    return max(runs, key=len).encode()


def required_words(regex: str) -> tuple[str, ...]:
    """All runs of plain characters that every match contains, in lower case: of a match in ASCII, which `lower` takes to what a
    regex takes for the same. None where none is sure (alternatives, blanks that mean nothing)."""
    return () if _VERBOSE.search(regex) else tuple(dict.fromkeys(_words(list(_split_atoms(regex)))))


def required_choices(regex: str, beside: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Words as above of which every match contains one of each of these choices: what stands in one of those `beside` tells
    nothing, and is left out."""
    if _VERBOSE.search(regex):
        return ()
    sure = ((word,) for word in required_words(regex))
    told = dict.fromkeys((*sure, *_choices(regex, beside)))
    return tuple(choice for choice in told if not any(word in one for word in choice for one in beside))


def _choices(regex: str, beside: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The longest word of each alternative, where all have one; of each group that must be there, too."""
    parts = alternatives(regex)
    if len(parts) == 1:
        for term in split_terms(parts[0]):
            if _fewest(term) and (group := _CASED_GROUP.match(term.atom)):
                yield from _choices(term.atom[group.end() : -1], beside)
        return
    words = [[word for word in _words(part) if not any(word in one for one in beside)] for part in parts]
    if all(words):
        yield tuple(max(some, key=len) for some in words)


def _words(atoms: list[str]) -> Iterator[str]:
    if "|" in atoms:
        return
    run = ""
    for atom, following in zip(atoms, [*atoms, ""][1:], strict=True):
        character = literal_of(atom)
        optional = bool(_QUANTIFIER.fullmatch(following))
        if character and not optional:
            run += character.lower()
            if following != "+":
                continue
        if run:
            yield run
        run = ""
        if atom[0] == "(" and not optional and (inner := _CASED_GROUP.match(atom)):
            yield from _words(list(_split_atoms(atom[inner.end() : -1])))
    if run:
        yield run


_VERBOSE = regex(r"\(\?[a-zA-Z]{0,8}x")
_CASED_GROUP = regex(r"\((?:\?(?:-?i)?:|\?P<\w+>|(?!\?))")
_PLAIN_GROUP = regex(r"\((?:\?:|\?P<\w+>|(?!\?))")


def literal_of(atom: str) -> str:
    """The character that an atom is; empty where it is anything else."""
    if len(atom) == 1 and atom not in _SPECIAL:
        return atom
    return atom[1] if len(atom) == 2 and atom[0] == "\\" and not atom[1].isalnum() else ""  # noqa: PLR2004 - an escape


#: A gap of so many characters. The database counts bytes, and an open gap is cheaper there than a counted one.
_GAP = regex(r"(?:(?<!\\)(?:\.|\\S)|\[\^[^\]\\]*(?:\\.[^\]\\]*)*\])\{\d+,\d+\}")

#: `^` where an alternative begins, `$` where one ends.
_ANCHOR = regex(r"(?:(?<=[|(:>])|(?<=\(\?i\))|\A)\^|(?<!\\)\$(?=[|)]|\Z)")

#: Refers to a group, which must then stay as it is.
REFERENCE = regex(r"\(\?P=|\(\?\(|\\[1-9]")


#: Kinds of facts for which candidates are held back until a stretch of a source has been read.
_HELD_BACK = frozenset({"progress", "step-time"})
#: Fewer letters in a row tell too little to look for what holds them alone; so many in either case, or of what is held back.
_FEWEST, _RARE = 3, 8


def sought(pattern: Pattern) -> str:
    """What the database looks for. Of what says how far a job is, the last lines alone are looked at: too many that say
    nothing of it would hide those that do."""
    return loosened(pattern.search, _RARE if pattern.emits in _HELD_BACK else _FEWEST)


def loosened(regex: str, enough: int = _FEWEST) -> str:
    """The expression for the database. An anchor to the message's start or end goes, because prefixes and colours stand
    around the message. So does what may be there or not at either end, and what could be anywhere before the words that
    tell most, if these are long `enough`: the rest finds the same lines, with one event where a repetition at the end makes
    one for every character, and the database has to remember nothing of what any text holds."""
    regex = _GAP.sub(".*", _ANCHOR.sub("", regex))
    if REFERENCE.search(regex):
        return regex
    flag = FOR_ALL if regex.startswith(FOR_ALL) else ""
    regex = _with_open_rounds(regex.removeprefix(flag))
    regex = "|".join(
        _from_most_telling(_without_vague_start(_without_idle(_flat(split_terms(atoms)))), enough)
        for atoms in alternatives(_shortened(regex) or regex)
    )
    regex = _shortened(regex) or regex
    return flag + (_narrowed(regex) if flag or _IGNORES_CASE.search(regex) else regex)


#: How often a group may stand there, or not at all, that may stand there more than once.
_ROUNDS = regex(r"(?:\*|\{0?,(?!1\})\d*\})[?+]?")


def _with_open_rounds(regex: str) -> str:
    """The expression with any text in place of groups that may stand there several times: the database unrolls each round, which
    takes seconds to compile and time to follow, and what stands around them finds the same lines."""
    return "|".join("".join(str(_open_round(term)) for term in split_terms(atoms)) for atoms in alternatives(regex))


def _open_round(term: Term) -> Term:
    group = GROUP.match(term.atom)
    if group is None:
        return term
    if _ROUNDS.fullmatch(term.times):
        return Term(".", "*")
    return Term(f"{group[0]}{_with_open_rounds(term.atom[group.end() : -1])})", term.times)


#: How often an atom may stand to span words: whatever comes before it, the database has to remember.
_WIDE_TIMES = regex(r"(?:[*+]|\{\d*,(?:|[2-9]\d|\d{3,})\})[?+]?")
_DIGIT, EDGE = r"\d", r"\b"
_CLASSES = frozenset({".", r"\w", r"\S", _DIGIT})


def _flat(terms: list[Term]) -> list[Term]:
    """The same with what is in groups that are there once and have no alternatives: what they capture is asked later."""
    flat: list[Term] = []
    for term in terms:
        group = None if term.times else GROUP.match(term.atom)
        inner = alternatives(term.atom[group.end() : -1]) if group and "?i" not in group[0] else []
        flat += _flat(split_terms(inner[0])) if len(inner) == 1 else [term]
    return flat


def _without_idle(terms: list[Term]) -> list[Term]:
    """The same without what may be missing behind a gap of any characters, and the edges of words there: the gap holds it."""
    kept: list[Term] = []
    for term in terms:
        after_gap = bool(kept) and (kept[-1].atom, kept[-1].times[:1]) == (".", "*")
        if not after_gap or (_fewest(term) and term.atom != EDGE):
            kept.append(term)
    return kept


def _without_vague_start(terms: list[Term]) -> list[Term]:
    """The same without a character of a class before a term that may span words: nearly any text has one, so that the database
    would follow each of them."""
    while len(terms) > 2 and _is_vague(terms[0]) and _is_vague(terms[1]) and _is_wide(terms[1]):  # noqa: PLR2004 - and more
        terms = terms[2:]
    return terms


def _is_vague(term: Term) -> bool:
    """Whether a term is a character of a class, however often it stands there."""
    return term.atom in _CLASSES or bool(_CLASS.fullmatch(term.atom))


def _from_most_telling(terms: list[Term], enough: int) -> str:
    """An alternative from the part on that tells most, of the parts between its wide terms, where that is much more than
    its beginning tells."""
    begins = [0, *(number + 1 for number, term in enumerate(terms) if _is_wide(term))]
    told = [telling("".join(map(str, terms[begin:end]))) for begin, end in pairwise([*begins, len(terms)])]
    best = told.index(max(told))
    return "".join(map(str, terms[begins[best] :] if told[best] >= max(enough, 2 * told[0]) else terms))


def _is_wide(term: Term) -> bool:
    """Whether a term without a word of its own may span words."""
    if telling(str(term)) >= _FEWEST:
        return False
    if group := GROUP.match(term.atom):
        return any(_is_wide(inner) for some in alternatives(term.atom[group.end() : -1]) for inner in split_terms(some))
    return term.atom != _DIGIT and bool(_WIDE_TIMES.fullmatch(term.times))


def telling(regex: str) -> int:
    """So many characters in a row every match holds at the least, whichever alternative it takes."""
    return min(_telling_of(atoms) for atoms in alternatives(regex))


def _telling_of(atoms: list[str]) -> int:
    inner = [
        telling(term.atom[group.end() : -1])
        for term in split_terms(atoms)
        if _fewest(term) and (group := GROUP.match(term.atom))
    ]
    return max([len(required_literal("".join(atoms))), *inner])


_IGNORES_CASE = regex(r"\(\?i[):]")
FOR_ALL = "(?i)"


def _narrowed(regex: str) -> str:
    """Of each alternative the part between two gaps that is the most telling, where one is: a word in either case before a
    gap makes the database slow, and the part behind it finds the same lines."""
    return "|".join(map(_most_telling, alternatives(regex)))


def _most_telling(atoms: list[str]) -> str:
    parts: list[list[Term]] = [[]]
    for term in split_terms(atoms):
        if term.times[:1] in ("*", "+") and _ANY.fullmatch(term.atom):
            parts.append([])
        else:
            parts[-1].append(term)
    best = max(("".join(map(str, part)) for part in parts), key=_letters)
    return best if _letters(best) >= _RARE else "".join(atoms)


#: An atom that stands for nearly any character.
_ANY = regex(r"\.|\\S|\[\^[^\]\\]*(?:\\.[^\]\\]*)*\]")


def _letters(regex: str) -> int:
    return len(required_literal(regex.replace("(?i:", "(?:")))


class Term(Struct):
    """An atom and how often it may stand there."""

    atom: str
    times: str

    def __str__(self) -> str:
        return self.atom + self.times


_TIMES = regex(r"(?:[*+?]|\{\d*,?\d*\})[?+]?")
_COUNTED = regex(r"\{(\d*)(,?)\d*\}")
#: Groups whose content can be shortened; not assertions.
GROUP = regex(r"\((?:\?[a-z]*:|\?P<\w+>|(?!\?))")


def _shortened(regex: str, *, left: bool = True, right: bool = True) -> str:
    """The regex with as little as possible at its ends; empty where it also matches nothing at all."""
    shorter = [
        "".join(map(str, _without_ends(split_terms(atoms), left=left, right=right))) for atoms in alternatives(regex)
    ]
    return "|".join(shorter) if all(shorter) else ""


def alternatives(regex: str) -> list[list[str]]:
    """The atoms of each alternative at the top level."""
    alternatives: list[list[str]] = [[]]
    for atom in _split_atoms(regex):
        if atom == "|":
            alternatives.append([])
        else:
            alternatives[-1].append(atom)
    return alternatives


def terms_of(regex: str) -> list[list[str]]:
    """The alternatives of a regex, each as its atoms with their quantifiers."""
    return [list(map(str, split_terms(atoms))) for atoms in alternatives(regex)]


def split_terms(atoms: list[str]) -> list[Term]:
    """Atoms with how often they may stand there."""
    terms: list[Term] = []
    for atom in atoms:
        if terms and _TIMES.fullmatch(atom):
            terms[-1].times += atom
        else:
            terms.append(Term(atom, ""))
    return terms


def _without_ends(terms: list[Term], *, left: bool, right: bool) -> list[Term]:
    """What must be there of a sequence, without what may be there at its ends."""
    while right and terms:
        last = _least(terms.pop(), left=left and not terms, right=True)
        if last:
            terms.append(last)
            break
    while left and terms:
        first = _least(terms.pop(0), left=True, right=right and not terms)
        if first:
            terms.insert(0, first)
            break
    return terms


def _least(term: Term, *, left: bool, right: bool) -> Term | None:
    """The fewest repetitions of an atom at the end of a sequence; None where there may be none."""
    fewest = _fewest(term)
    if not fewest:
        return None
    if fewest > 1:
        return Term(term.atom, f"{{{fewest}}}")
    group = GROUP.match(term.atom)
    if group is None or term.times:
        return Term(term.atom, "")
    inner = _shortened(term.atom[group.end() : -1], left=left, right=right)
    return Term(f"{group[0]}{inner})", "") if inner else None


def _fewest(term: Term) -> int:
    counted = _COUNTED.match(term.times)
    return int(counted[1] or 0) if counted else 0 if term.times[:1] in ("*", "?") else 1
