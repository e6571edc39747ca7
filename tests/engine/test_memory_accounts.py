"""What filled device memory, by the runtime's list or table, and whose account it is where several stand in one log."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.memory_accounts import accounts

ROW = (
    "23.310GB |402.811MB | 1.104MB | 17.250GB | 5.000GB |588.000MB | 2.140MB | 1.000GB | 9.250MB | n/a | 4.000MB |"
    " 18.000MB | 0.000B | 0.000B |"
)


def request(offset: int, device: int | None = 3, source: str = "log", host: str | None = None) -> Fact:
    place = Place(device=device, core=12, host=host)
    return Fact("memory-request", {"size": "1.500GB", "usage": "tensors"}, place, Span(source, offset=offset), source)


def use(
    offset: int,
    source: str = "log",
    core: int | None = None,
    device: int | None = 3,
    host: str | None = None,
    **data: str,
) -> Fact:
    return Fact(
        "memory-use", dict(data), Place(device=device, core=core, host=host), Span(source, offset=offset), source
    )


def told(*facts: Fact) -> list[str]:
    return [str(fact.data["description"]) for fact in accounts(facts)]


def largest(*facts: Fact) -> list[tuple[object, object]]:
    return [(fact.data["largest"], fact.data["percent"]) for fact in accounts(facts)]


def test_the_table_tells_the_categories_and_which_cores_share_the_memory() -> None:
    [said] = told(request(0), use(1, row=ROW), use(2, core=12, row="12.120GB |"), use(3, core=13, row="11.190GB |"))
    assert said == (
        "device 3 was asked for 1.500GB (tensors) with 23.310GB in use: tensors 17.250GB (74 %), shared scratchpad 5.000GB "
        "(21 %), dma rings 1.013GB (4 %); core 12 holds 12.120GB, core 13 holds 11.190GB of it"
    )


def test_the_list_tells_the_same_of_one_core() -> None:
    lines = [("total", "15.972GB"), ("tensors", "13.170GB"), ("dma rings", "1.471GB"), ("runtime", "7.352KB")]
    [said] = told(request(0), *(use(n, core=12, category=c, size=s) for n, (c, s) in enumerate(lines, 1)))
    assert said == (
        "device 3 was asked for 1.500GB (tensors) with 15.972GB in use: tensors 13.170GB (82 %), dma rings 1.471GB (9 %)"
    )


def test_a_list_whose_lines_name_no_device_is_of_the_request_above_by_the_same_writer() -> None:
    assert largest(request(0), use(1, device=None, category="tensors", size="9GB")) == [("tensors", 100)]
    assert largest(request(0, host="a"), use(1, device=None, host="b", category="tensors", size="9GB")) == []
    assert largest(request(1), use(0, device=None, category="tensors", size="9GB")) == []


def test_each_device_has_its_own_account_however_threads_print_between_one_another() -> None:
    mixed = [
        request(0, device=3),
        request(1, device=0),
        use(2, device=0, category="tensors", size="9.000GB"),
        use(3, device=3, category="scratchpad", size="9.000GB"),
        use(4, device=0, category="total", size="10.000GB"),
        use(5, device=3, category="total", size="18.000GB"),
    ]
    assert sorted(largest(*mixed)) == [("scratchpad", 50), ("tensors", 90)]


def test_a_second_attempt_is_told_by_its_own_account() -> None:
    first = [request(0), use(1, category="tensors", size="9.000GB")]
    second = [request(2), use(3, category="scratchpad", size="9.000GB")]
    assert largest(*first, *second) == [("tensors", 100), ("scratchpad", 100)]


def test_the_file_of_the_table_serves_where_the_log_was_cut_but_not_that_of_another_host() -> None:
    assert largest(request(0, host="a"), use(0, source="table", host="a", row=ROW)) == [("tensors", 74)]
    assert largest(request(0, host="a"), use(0, source="table", row=ROW)) == [("tensors", 74)]
    assert largest(request(0, host="a"), use(0, source="table", host="b", row=ROW)) == []


def test_nothing_is_told_without_a_request_or_of_another_device() -> None:
    assert told(use(1, row=ROW)) == []
    assert told(request(0), use(1, device=4, row=ROW)) == []
    assert told(request(0, device=None), use(1, row=ROW)) == []
    assert told(request(5), use(1, row=ROW)) == [], "what is printed before belongs to something else"


def test_a_table_of_another_version_tells_its_total_only() -> None:
    [said] = told(request(0), use(1, row="23.310GB |402.811MB |"))
    assert said == "device 3 was asked for 1.500GB (tensors) with 23.310GB in use"


@given(st.lists(st.text(" |0123456789.KMGTBna/", max_size=60), max_size=4), st.text(max_size=8), st.text(max_size=8))
@example(["1.0GB |"], "", "INF")
@example(["1.0GB |"], "", "nanGB")
def test_any_text_makes_an_account_of_at_most_all(rows: list[str], category: str, size: str) -> None:
    facts = [request(0), *(use(1 + n, core=n, row=row) for n, row in enumerate(rows))]
    facts.append(use(99, category=category, size=size))
    for fact in accounts(facts):
        assert isinstance(fact.data["percent"], int)
        assert fact.data["percent"] >= 0
