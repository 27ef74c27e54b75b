"""Draws the pictures of the documentation: ``python docs/pictures/draw.py``."""

from __future__ import annotations

from html import escape
from pathlib import Path

from continuity_core import Stage
from continuity_core.loading.configuration import Configuration
from continuity_core.loading.load import load_plugins

HERE = Path(__file__).parent
INK, SOFT, WARM = "#1f2933", "#e4ecf4", "#fdf0d5"


class Picture:
    """An SVG in the making."""

    def __init__(self, width: int, height: int) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"',
            f'font-family="sans-serif" font-size="14" fill="{INK}">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"',
            f'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]

    def box(self, x: int, y: int, width: int, height: int, *lines: str, fill: str = SOFT) -> None:
        """A box with centred lines, the first one bold."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{INK}"/>'
        )
        top = y + height / 2 - (len(lines) - 1) * 9 + 5
        for number, line in enumerate(lines):
            weight = ' font-weight="bold"' if number == 0 else ""
            self.text(x + width / 2, top + number * 18, line, weight)

    def text(self, x: float, y: float, words: str, more: str = "", anchor: str = "middle") -> None:
        """Words on one line."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(words)}</text>')

    def arrow(self, *points: tuple[int, int]) -> None:
        """A line through the points, with a tip."""
        path = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{INK}" marker-end="url(#tip)"/>')

    def svg(self) -> str:
        """The whole picture."""
        return "\n".join([*self.parts, "</svg>", ""])


def run() -> str:
    """The life of a run."""
    picture = Picture(760, 330)
    picture.box(20, 30, 130, 50, "user request")
    picture.box(184, 30, 162, 50, "project", "before every request")
    picture.box(380, 30, 130, 50, "model turn", "with its tools")
    picture.box(560, 30, 170, 50, "turn_ended", "decide, hold the wait", fill=WARM)
    picture.box(560, 160, 170, 60, "the host itself", "retries, compaction,", "queued input")
    picture.box(320, 160, 170, 60, "before_settle", "decide, never wait", fill=WARM)
    picture.box(60, 160, 170, 60, "settle", "result or error, report")
    for start, end in ((150, 184), (346, 380), (510, 560)):
        picture.arrow((start, 55), (end, 55))
    picture.arrow((645, 80), (645, 160))
    picture.arrow((560, 190), (490, 190))
    picture.arrow((320, 190), (230, 190))
    picture.arrow((405, 160), (405, 120), (265, 120), (265, 80))
    picture.text(335, 112, "one more turn")
    picture.arrow((730, 40), (748, 40), (748, 12), (300, 12), (300, 30))
    picture.text(520, 26, "one more turn")
    picture.arrow((645, 220), (645, 262), (240, 262), (240, 80))
    picture.text(440, 282, "the host goes on by itself")
    picture.text(
        380, 315, "An abort, a switch or new input ends a wait at once, and we request nothing more."
    )
    return picture.svg()


def chain() -> str:
    """The chain with its stages and the bundled plugins."""
    configuration = Configuration.from_mapping({"allow_injection": ["partial-checkpoint"]})
    plugins = load_plugins(configuration, installed=False).plugins
    picture = Picture(172 * len(Stage) + 15, 210)
    for place, stage in enumerate(Stage):
        x = 15 + place * 172
        names = [
            plugin.name
            for plugin in plugins
            if plugin.order.stage is stage and plugin.name != "provider-errors"
        ]
        picture.box(x, 40, 157, 120, stage.value, *names, fill=WARM if stage is Stage.GUARD else SOFT)
        if place:
            picture.arrow((x - 15, 100), (x, 100))
    picture.text(15, 25, "Each plugin sees the proposal of those before it.", anchor="start")
    picture.text(15, 190, "provider-errors is asked before the chain: what was this turn?", anchor="start")
    return picture.svg()


def join() -> str:
    """What the join rules do."""
    picture = Picture(760, 300)
    rows = [
        ("usage-limit-wait", "Resume, Wait 720 s (stated), Omit turn 7"),
        ("stream-recovery", "Resume, Wait 5 s, Omit turn 7"),
        ("your plugin", "Omit half of a pair"),
        ("run-limits", "no opinion"),
    ]
    for place, (plugin, said) in enumerate(rows):
        y = 20 + place * 66
        picture.box(15, y, 330, 52, plugin, said, fill=WARM if place == 2 else SOFT)
        picture.arrow((345, y + 26), (430, y + 26), (430, 150), (470, 150))
    picture.box(
        470,
        75,
        275,
        150,
        "proposal",
        "Resume: the first affordable one",
        "Wait: the longest, stated in full",
        "Omit turn 7",
        "dropped: half of a pair",
        "Halt would drop every Resume",
    )
    return picture.svg()


PICTURES = {"run.svg": run, "chain.svg": chain, "join.svg": join}


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (HERE / name).write_text(draw(), encoding="utf-8")
