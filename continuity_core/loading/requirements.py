"""Whether everything that ``require`` names is there and on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from continuity_core.loading.discovery import Candidate
from continuity_core.loading.errors import Problem
from continuity_core.loading.selection import normal_name
from continuity_core.loading.suggesting import did_you_mean
from continuity_core.loading.versions import Requirement


def requirement_problems(
    requirements: Sequence[Requirement], where: str, states: Mapping[Candidate, str]
) -> Iterator[Problem]:
    """The problems of every requirement that is not met.

    ``states`` says what became of each plugin: ``on``, ``off by …`` or ``broken: …``. A distribution is there
    if at least one of its plugins is on and none is broken.
    """
    for requirement in requirements:
        name = normal_name(requirement.name)
        matching = [candidate for candidate in states if name in candidate.names]
        if not matching:
            known = {known for candidate in states for known in candidate.names}
            yield Problem(
                where=where,
                what=f'"{requirement}" is required, and no such plugin or distribution is installed',
                mend=f"Install it. {did_you_mean(name, known)}",
            )
            continue
        broken = [candidate for candidate in matching if states[candidate].startswith("broken")]
        for candidate in broken:
            yield Problem(
                where=where, what=f'"{requirement}" is required, and {candidate} is {states[candidate]}'
            )
        if not broken and not any(states[candidate] == "on" for candidate in matching):
            yield Problem(
                where=where,
                what=f'"{requirement}" is required, and {matching[0]} is {states[matching[0]]}',
                mend="Keep one of the two.",
            )
        wrong = {
            candidate.version: candidate
            for candidate in matching
            if not requirement.allows(candidate.version)
        }
        for version, candidate in wrong.items():
            yield Problem(
                where=where,
                what=f'"{requirement}" is required, and {candidate} has {version or "no known version"}',
                mend="Install a version that fits, or change the requirement.",
            )
