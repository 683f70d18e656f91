"""The overview at the top of `benches/RESULTS.md`, made from the tables of the jobs; needs no package but pytest."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[2] / "benches"
sys.path.append(str(BENCHES))

from harness import HEADINGS, Row, Target, table  # noqa: E402
from results import overview, page, rows_of, sections_of  # noqa: E402


def section(job: str, rows: list[Row]) -> str:
    """A section as a run writes it."""
    return f"## {job}\n\nWords.\n\n{table(HEADINGS, [row.cells() for row in rows])}\n\nMissed:\n\n- it: slow.\n"


def lines(sections: dict[str, str]) -> list[str]:
    """The rows of the overview."""
    return overview(sections).splitlines()[2:]


def test_medians_and_worst_rows_name_their_peer() -> None:
    rows = [
        Row("cast", "even", 3.0, 2.0, {"slow": 6.0, "quick": 4.0}, Target(peer=0.5)),
        Row("cast", "small", 1.0, 4.0, {"slow": 8.0, "quick": 16.0}, Target(peer=0.5)),
        Row("cast", "large", 9.0, 3.0, {"other": 4.5}, Target(peer=0.5)),
    ]
    assert lines({"cast": section("cast", rows)}) == ["| [cast](#cast) | 3 | 0.75 (quick) | 2 (other) | 1.50 | 3.00 | 1 of 3 |"]


def test_median_of_an_even_number_of_rows_is_a_row() -> None:
    rows = [Row("zstd", str(ours), ours, 1.0) for ours in (4.0, 1.0, 3.0, 2.0)]
    assert lines({"zstd": section("zstd", rows)}) == ["| [zstd](#zstd) | 4 | – | – | 3.00 | 4.00 | – |"]


def test_ratios_sort_as_numbers() -> None:
    rows = [Row("slice", str(ours), ours, None, {"p": 1.0}) for ours in (12.3, 7.91, 0.0101)]
    assert lines({"slice": section("slice", rows)}) == ["| [slice](#slice) | 3 | 7.91 (p) | 12.3 (p) | – | – | – |"]


def test_rows_without_a_target_are_not_judged() -> None:
    peers = {"numpy": 2.0}
    rows = [
        Row("diff", "equal", 1.0, None, peers, Target(peer=1.0)),
        Row("diff", "exact", 1.0, None, peers),
        Row("diff", "other", 1.0, None, peers, other=("≤ 5 ms", False)),
    ]
    assert lines({"diff": section("diff", rows)}) == ["| [diff](#diff) | 3 | 0.5 (numpy) | 0.5 (numpy) | – | – | 1 of 2 |"]


def test_tables_of_other_columns() -> None:
    first = table(["one tensor", "exponent", "met"], [["stats", "0.9", "yes"], ["verify", "1.2", "**no**"]])
    second = table(["many tensors", "exponent", "met"], [["list", "1.0", "yes"]])
    third = table(["cost", "how much"], [["the command", "20.0 MiB"]])
    found = lines({"growth": f"## growth\n\n{first}\n\n{second}\n\n{third}\n", "cost": f"## cost\n\n{third}\n"})
    assert found == ["| [growth](#growth) | 3 | – | – | – | – | 2 of 3 |", "| [cost](#cost) | – | – | – | – | – | – |"]


@pytest.mark.parametrize("row", ["| a | 1 |", "| a | 1 | yes | 2 |", "| a | 1 | perhaps |"])
def test_what_is_not_understood_is_not_counted_silently(row: str) -> None:
    text = f"## a\n\n| what | ours / limit | met |\n|---|---:|---:|\n{row}\n"
    with pytest.raises((AssertionError, KeyError)):
        overview({"a": text})


def test_sections_survive_another_page() -> None:
    sections = {job: section(job, [Row(job, "row", 1.0, 2.0)]) for job in ("copy", "cast")}
    text = page("# Results\n\nOVERVIEW\n\nMACHINE\n", "2 cores.", sections)
    assert sections_of(text) == sections
    assert text.startswith(f"# Results\n\n{overview(sections)}\n\n2 cores.\n\n## copy\n")


def test_the_committed_page_has_the_overview_of_its_sections() -> None:
    text = (BENCHES / "RESULTS.md").read_text(encoding="utf-8")
    sections = sections_of(text)
    assert len(sections) >= 15
    assert sum(len(rows_of(found)) for found in sections.values()) >= 90
    assert overview(sections) in text[: text.index("\n## ")]
