"""In how many ways a pattern may read one text: what a matcher that goes back has to try before it gives up.

Where the next letters tell how a pattern goes on, there is one way, and the matcher reads each letter once. Where they leave
it open (how much is `.*` before a comma?), each length is a way of its own. Ways in a row multiply, and those within a
repetition do so with each round.
"""

from __future__ import annotations

from functools import cache, reduce

from msgspec.structs import replace

from neuron_doctor.engine.expression_tree import Letters, NotLinear, Part, may_be_nothing, tree

#: No more of a line is looked at: what repeats without a bound has so many lengths.
UNBOUNDED = 16_384
#: From one place on, a pattern may read a text in so many ways; two times `.*` in a row have a quarter of them.
MOST = 10**9
#: So many letters tell which way a pattern goes on, if they do; of so many beginnings.
_AHEAD, _BEGINNINGS = 12, 64

_CERTAIN = "let each round end with what cannot stand within it: (?:[^,]{1,80},){0,9} and not (?:.*,)*"
_BOUNDED = "bound what repeats, and leave out of it what ends it: [^,]{0,80}, and not .*,"

_Parts = tuple[Part, ...]
#: The sets of letters that may stand one after the other where something begins; what is behind them is open.
_Beginning = tuple[Letters, ...]


@cache
def ways(expression: str) -> int:
    """How many there may be, from one place on, of an expression of Python. Raises NotLinear where they are more than `MOST`."""
    return _of_part(tree(expression), ())


def _of_sequence(parts: _Parts, then: _Parts) -> int:
    found = 1
    for i in reversed(range(len(parts))):
        found *= _of_part(parts[i], (*parts[i + 1 :], *then))
        if found > MOST:
            raise NotLinear(
                "from here on one text may be read in too many ways", _BOUNDED, parts[i].begin, parts[i].end
            )
    return found


def _of_part(part: Part, then: _Parts) -> int:
    """The ways of a part that the rest of the pattern follows."""
    rounds = int(min(part.most, UNBOUNDED))
    again = (replace(part, least=0, most=part.most - 1), *then) if rounds > 1 else then
    each = _of_choices(part, again)
    if each > 1 and rounds * (each.bit_length() - 1) > MOST.bit_length():
        said = "each round of this repetition may read one text in several ways, which multiply"
        raise NotLinear(said, _CERTAIN, part.begin, part.end)
    return int(each**rounds) * _lengths(part, rounds, then)


def _of_choices(part: Part, then: _Parts) -> int:
    """The ways of one round: the sum over the alternatives that may begin alike."""
    each = [_of_sequence(choice, then) for choice in part.choices]
    if len(each) <= 1:
        return sum(each) or 1
    begin = [_beginnings((*choice, *then)) for choice in part.choices]
    return max(sum(number for other, number in zip(begin, each, strict=True) if _alike(mine, other)) for mine in begin)


def _lengths(part: Part, rounds: int, then: _Parts) -> int:
    """In how many rounds a part may be read where the text does not tell."""
    if part.least == part.most or may_be_nothing(then):
        return 1  # where nothing need follow, the first way is a match
    if then[0].ends_word and part.letters and all(letter.isalnum() or letter == "_" for letter in part.letters):
        return 1
    once, after = _beginnings((replace(part, least=1, most=1),)), _beginnings(then)
    if not _alike(once, after):
        return 1
    if part.letters is None:
        return rounds - part.least + 1
    return min(rounds - part.least, _reach(after, part.letters)) // _apart(after) + 1


def _apart(begin: set[_Beginning]) -> int:
    """So many letters, at least, are from where a text begins so to where it does again: `error` never begins in `error`."""
    shifts = range(1, _AHEAD)
    return next((shift for shift in shifts if _alike({one[shift:] for one in begin}, begin)), _AHEAD)


def _reach(begin: set[_Beginning], letters: Letters) -> int:
    """At most so far apart are two places where a text begins so, with nothing but these letters between them."""
    return max(next((i for i, some in enumerate(one) if not some & letters), UNBOUNDED) for one in begin)


def _alike(some: set[_Beginning], others: set[_Beginning]) -> bool:
    """Whether one text may begin as both."""
    for one in some:
        for other in others:
            if one and other and one[0].isdisjoint(other[0]):  # as most are
                continue
            if not any(a.isdisjoint(b) for a, b in zip(one, other, strict=False)):
                return True
    return False


def _beginnings(parts: _Parts, ahead: int = _AHEAD) -> set[_Beginning]:
    """How a text may begin that a sequence reads."""
    if not parts or not ahead:
        return {()}
    first, rest = parts[0], parts[1:]
    if first.is_edge:
        return _beginnings(rest, ahead) if first.ahead is None else {(first.ahead,)}
    found = _of_rounds(first, rest, ahead) if first.most else set()
    if first.least == 0:
        found = found | _beginnings(rest, ahead)
    if len(found) <= _BEGINNINGS:
        return found
    return {()} if () in found else {(reduce(Letters.union, (one[0] for one in found)),)}


def _of_rounds(part: Part, rest: _Parts, ahead: int) -> set[_Beginning]:
    """Beginnings in which a part is read once or more."""
    if part.least > 1:
        rest = (replace(part, least=part.least - 1, most=part.most - 1), *rest)
    elif part.most > 1:
        rest = ()  # one more or what follows: open
    if part.letters is not None:
        return {(part.letters, *more) for more in _beginnings(rest, ahead - 1)}
    return {one for choice in part.choices for one in _beginnings((*choice, *rest), ahead)}
