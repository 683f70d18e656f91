"""`RESULTS.md` as text: the sections of the jobs, and the overview of their tables at its top.

The overview is made from the text of the sections, so that jobs that were not run this time are in it too.
"""

import re

from harness import table

OVERVIEW = ["job", "rows", "ours / best peer: median", "worst", "ours / limit: median", "worst", "met"]
MET = {"yes": True, "**no**": False, "–": None}


def sections_of(page):
    """The sections of a page, by job."""
    parts = re.split(r"(?m)^## ", page)[1:]
    return {part.split("\n", 1)[0].strip(): "## " + part.strip() + "\n" for part in parts}


def rows_of(section):
    """The rows of all tables of a section that have a column `met`: each a dictionary by heading."""
    found, headings = [], None
    for line in section.splitlines():
        if not line.startswith("|"):
            headings = None
        elif not line.startswith("|---"):
            cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
            if headings is None:
                headings = cells
            else:
                assert len(cells) == len(headings), f"{len(cells)} cells below {len(headings)} headings: {line}"
                found.append(dict(zip(headings, cells)))
    return [row for row in found if "met" in row]


def median_and_worst(cells):
    """The cells with the median and with the largest ratio; of an even number the median is the larger of the middle two.

    Both are cells of the table, none is computed.
    """
    cells = sorted((cell for cell in cells if cell != "–"), key=lambda cell: float(cell.split(" ", 1)[0]))
    return [cells[len(cells) // 2], cells[-1]] if cells else ["–", "–"]


def overview(sections):
    """A table with a row per job."""
    lines = []
    for job, section in sections.items():
        rows = rows_of(section)
        judged = [kept for kept in (MET[row["met"]] for row in rows) if kept is not None]
        peer, limit = (median_and_worst(row.get(heading, "–") for row in rows) for heading in ("ours / best peer", "ours / limit"))
        met = f"{sum(judged)} of {len(judged)}" if judged else "–"
        lines.append([f"[{job}](#{job})", str(len(rows)) if rows else "–", *peer, *limit, met])
    return table(OVERVIEW, lines)


def page(head, machine, sections):
    """All of the page: the head with the overview and the machine in their places, then the sections in their order."""
    head = head.strip().replace("OVERVIEW", overview(sections)).replace("MACHINE", machine)
    return "\n\n".join([head, *(section.strip() for section in sections.values())]) + "\n"
