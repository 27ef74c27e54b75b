"""Writes what was measured into the pages: ``python benchmarks/pages.py``.

Tables stand between ``<!-- measured: name -->`` and ``<!-- measured up to here -->``; pictures are files of
their own. All is made from ``results/`` alone, so that a page and its figures cannot part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
PAGES = ("README.md", "docs/benchmarks.md")
PICTURES = CHECKOUT / "docs" / "pictures"
BLOCK = re.compile(r"(<!-- measured: ([a-z-]+) -->\n).*?(<!-- measured up to here -->)", re.DOTALL)

Measurement = Mapping[str, Any]


def result(name: str) -> Measurement:
    """One file of ``results/``."""
    found: Measurement = json.loads((HERE / "results" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def table(header: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """A Markdown table."""
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


# ---------------------------------------------------------------- runs saved


def runs_saved(rerolls: str) -> str:
    """A row a strategy."""
    rows: list[tuple[object, ...]] = [
        (
            row["strategy"],
            _share(row, "finished"),
            _share(row, "wrong_successes"),
            row["truncated_tools_run"],
            row["requests_after_permanent_or_abort"],
            f"{row['extra_requests_per_finished_run']:.2f}",
            f"{row['extra_output_tokens_per_finished_run']:,}",
            f"{row['minutes_per_task']:.1f}",
        )
        for row in result("runs_saved")["figures"]["rows"]
        if row["rerolls"] == rerolls
    ]
    header = (
        "",
        "runs finished",
        "wrong successes",
        "truncated tools run",
        "too late",
        "extra requests",
        "extra tokens",
        "minutes",
    )
    return table(header, rows)


def _share(row: Measurement, key: str) -> str:
    low, high = row[f"{key}_95"]
    return f"{row[key]:.1%} ({low:.1%}–{high:.1%})"


def over_http() -> str:
    """Reality and simulation beside each other."""
    rows: list[tuple[object, ...]] = [
        (
            row["strategy"],
            f"{row['finished']} of {row['tasks']}",
            row["finished_simulated"],
            row["wrong_successes"],
            row["truncated_tools_run"],
            row["requests_after_permanent_or_abort"],
            row["requests"],
            len(row["tasks_that_differ"]),
        )
        for row in result("over_http")["figures"]["rows"]
    ]
    header = (
        "",
        "finished",
        "simulated",
        "wrong successes",
        "truncated tools run",
        "too late",
        "requests",
        "tasks that differ",
    )
    return table(header, rows)


# ---------------------------------------------------------------- targets

MEASUREMENTS = (
    "boundary",
    "scale",
    "start",
    "errors",
    "host_pydantic_ai",
    "host_langchain",
    "host_openai_agents",
    "host_pi",
)


def targets() -> Iterator[tuple[str, Measurement]]:
    """Every target that is a cost, with the name of its script."""
    for name in MEASUREMENTS:
        for target in result(name)["targets"]:
            yield name, target


def costs() -> str:
    """Before, now and the target of each cost."""
    before = result("before")
    rows: list[tuple[object, ...]] = [
        (
            target["what"],
            _figure(before[target["what"]], target["unit"]) if target["what"] in before else "",
            _figure(target["measured"], target["unit"]),
            _figure(target["target"], target["unit"]),
            "met" if target["met"] else "missed",
            f"`{name}.py`",
        )
        for name, target in targets()
    ]
    return table(("", "before", "now", "target", "", "measured by"), rows)


def _figure(value: float, unit: str) -> str:
    return f"{value:g} {unit}".strip()


TABLES: dict[str, Callable[[], str]] = {
    "runs-saved": lambda: runs_saved("independent"),
    "runs-saved-overrunning": lambda: runs_saved("overrun again"),
    "over-http": over_http,
    "costs": costs,
}


def with_tables(page: str) -> str:
    """The page with its tables as they are now."""
    return BLOCK.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[3]}", page)


# ---------------------------------------------------------------- pictures

INK, SOFT, GOOD, BAD = "#1f2933", "#9fb3c8", "#2f6f4f", "#c0532b"
LINE = 26


class Bars:
    """Horizontal bars, from the top."""

    def __init__(self, title: str, number: int, *, left: int, width: int) -> None:
        """``left`` are the labels' pixels, ``width`` those of a bar of 1."""
        self._left, self._width = left, width
        height = 56 + number * LINE
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}" width="860"',
            f'font-family="sans-serif" font-size="14" fill="{INK}">',
            f'<rect width="860" height="{height}" fill="white"/>',
        ]
        self._text(20, 26, title, ' font-weight="bold"')
        self._top = 48

    def bar(self, label: str, parts: list[tuple[float, str]], value: str) -> None:
        """A labelled bar of coloured parts, each a share of the whole width."""
        y = self._top
        self._text(self._left - 10, y + 14, label, ' text-anchor="end"')
        done = 0.0
        for share, colour in parts:
            x, width = self._left + done * self._width, share * self._width
            self.parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="18" fill="{colour}"/>')
            done += share
        self._text(self._left + done * self._width + 8, y + 14, value)
        self._top += LINE

    def span(self, low: float, high: float) -> None:
        """The interval of the last bar."""
        y = self._top - LINE + 9
        x1, x2 = self._left + low * self._width, self._left + high * self._width
        self.parts.append(
            f'<path d="M{x1:.1f} {y}H{x2:.1f}M{x1:.1f} {y - 4}v8M{x2:.1f} {y - 4}v8" stroke="{INK}"/>'
        )

    def mark(self, share: float, label: str) -> None:
        """An upright line through all bars."""
        x = self._left + share * self._width
        self.parts.append(f'<path d="M{x:.1f} 42V{self._top}" stroke="{INK}" stroke-dasharray="4 3"/>')
        self._text(x, 38, label, ' text-anchor="middle" font-size="12"')

    def _text(self, x: float, y: float, words: str, more: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(words)}</text>')

    def svg(self) -> str:
        """The whole picture."""
        return "\n".join([*self.parts, "</svg>", ""])


def runs_saved_picture() -> str:
    """Finished and wrongly finished runs of each strategy."""
    rows = [row for row in result("runs_saved")["figures"]["rows"] if row["rerolls"] == "independent"]
    title = "Runs finished, with the 95 % interval; red: half answers taken for whole ones"
    bars = Bars(title, len(rows), left=330, width=420)
    for row in rows:
        finished, wrong = row["finished"], row["wrong_successes"]
        ours = row["strategy"].startswith("continuity")
        bars.bar(
            row["strategy"],
            [(finished, GOOD if ours else SOFT), (wrong, BAD)],
            f"{finished:.1%}" + (f" + {wrong:.1%}" if wrong else ""),
        )
        bars.span(*row["finished_95"])
    return bars.svg()


def costs_picture() -> str:
    """Every cost, as a multiple of its target."""
    found = [(target["what"], target["measured"] / target["target"]) for _, target in targets()]
    widest = max(3.0, *(share for _, share in found))
    bars = Bars("Costs, as multiples of their targets", len(found), left=470, width=320)
    for what, share in found:
        bars.bar(what, [(min(share / widest, 1.0), GOOD if share <= 1 else BAD)], f"{share:.2f}")
    bars.mark(1 / widest, "target")
    return bars.svg()


DRAWN = {"runs_saved.svg": runs_saved_picture, "costs.svg": costs_picture}


def main() -> None:
    """Write all of it."""
    for name in PAGES:
        page = CHECKOUT / name
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
    for name, draw in DRAWN.items():
        (PICTURES / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
