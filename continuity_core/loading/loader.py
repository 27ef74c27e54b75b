"""One pass over the candidates: each is on, off, or broken, and every mistake of the user is kept."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from continuity_core.engine.plugins import RegisteredPlugin
from continuity_core.loading.compatibility import deprecation_warning, deprecations_in
from continuity_core.loading.configuration import Configuration
from continuity_core.loading.discovery import Candidate, name_conflicts, why_off
from continuity_core.loading.errors import ConfigurationError, OrderError, PluginError, Problem
from continuity_core.loading.local import LocalFileError
from continuity_core.loading.options import OptionsClassError
from continuity_core.loading.ordering import in_chain_order
from continuity_core.loading.plugin_set import PluginRow, PluginSet, rows
from continuity_core.loading.printable import (
    describe_exception,
    describe_with_place,
    printable,
    value_text,
)
from continuity_core.loading.registration import new_manager, register
from continuity_core.loading.requirements import requirement_problems
from continuity_core.loading.selection import BUNDLED_DISTRIBUTION, REDACTION, normal_name
from continuity_core.loading.sources import NotAccepted, Provenance
from continuity_core.loading.suggesting import did_you_mean

logger = logging.getLogger("continuity")

SHOWN_NOT_ACCEPTED = 5
"""How many of the values that were not accepted the warning names."""


class BrokenPluginError(Exception):
    """A candidate cannot be loaded, and it is not the configuration's fault."""


class Loader:
    """Loads candidates; used once."""

    def __init__(
        self, configuration: Configuration, candidates: Sequence[Candidate], warnings: Iterable[str] = ()
    ) -> None:
        self._configuration = configuration
        self._candidates = candidates
        self._handed_over = {candidate.name for candidate in candidates if candidate.given == "code"}
        self._manager = new_manager()
        self._registered: list[RegisteredPlugin] = []
        self._states: dict[Candidate, str] = {}
        self._options: dict[str, Mapping[str, Provenance]] = {}
        self._problems = list(configuration.problems)
        self._warnings = [*configuration.warnings, *warnings]
        self._not_accepted: list[NotAccepted] = []

    def finish(self) -> PluginSet:
        """Load them all; logs the warnings, then raises :class:`ConfigurationError` with every problem."""
        conflicts = name_conflicts(
            candidate
            for candidate in self._candidates
            if not why_off(candidate, self._configuration.selection)
        )
        for candidate in self._candidates:
            if candidate.bundled or self._configuration.selection_known:
                self._states[candidate] = self._settle(candidate, conflicts)
        self._problems.extend(self._name_problems())
        if self._configuration.selection_known:
            self._problems.extend(
                requirement_problems(
                    self._configuration.require, self._configuration.provenance["require"].where, self._states
                )
            )
        self._warnings.extend(self._name_warnings())
        ordered = self._in_order()
        self._warnings.extend(_not_accepted_warning([*self._configuration.not_accepted, *self._not_accepted]))
        for warning in self._warnings:
            logger.warning("%s", warning)
        if self._problems:
            raise ConfigurationError(self._problems)
        return PluginSet(
            manager=self._manager,
            plugins=ordered,
            table=(*rows(self._manager, ordered, self._options), *self._rows_not_on()),
            warnings=tuple(self._warnings),
            not_accepted=tuple(self._not_accepted),
        )

    def _settle(self, candidate: Candidate, conflicts: Mapping[Candidate, str]) -> str:
        """Load one candidate, and say what became of it."""
        if key := why_off(candidate, self._configuration.selection):
            return f"off by {self._configuration.provenance[key]}"
        if candidate.third_party and candidate.name in self._handed_over:
            return "off by code, which hands over a plugin of this name"
        try:
            if candidate in conflicts:
                raise BrokenPluginError(conflicts[candidate])
            plugin = self._make(candidate)
            if plugin is None:
                return "broken: its options are not valid"
            if self._may_not_inject(candidate, plugin):
                if candidate.given == "code":
                    self._warnings.append(
                        f"{candidate} was handed over and is off: all that it is for is text for the model. "
                        f'To allow it: allow_injection = ["{printable(candidate.name, 100)}"]'
                    )
                return "off by allow_injection, which does not name it"
            registered = register(
                self._manager,
                plugin,
                name=candidate.name,
                distribution=candidate.distribution,
                version=candidate.version,
            )
        except PluginError as error:
            return self._broken(candidate, error.cause)
        except BrokenPluginError as error:
            logger.debug("%s cannot be loaded", candidate, exc_info=error)
            return self._broken(candidate, str(error))
        self._registered.append(registered)
        self._warnings.extend(
            printable(deprecation_warning(str(candidate), deprecation), 1000)
            for deprecation in deprecations_in(self._manager, plugin)
        )
        return "on"

    def _may_not_inject(self, candidate: Candidate, plugin: object) -> bool:
        """Whether all that it is for is text for the model, and nobody allowed that."""
        try:
            injects = getattr(plugin, "injects", False)
        except (
            Exception,
            SystemExit,
        ):  # Registration looks at every attribute and names the one that raises.
            return False
        return injects is True and candidate.name not in self._configuration.settings.allow_injection

    def _make(self, candidate: Candidate) -> object | None:
        """An instance of the candidate; ``None`` if its options have problems, which are kept."""
        try:
            named = candidate.obtain()
        except LocalFileError as error:
            raise BrokenPluginError(str(error)) from error
        except (Exception, SystemExit) as error:
            raise BrokenPluginError(f"importing it raises {describe_with_place(error)}") from error
        if candidate.given == "code" and not isinstance(named, type):
            self._problems.extend(
                Problem(
                    where=value.where,
                    what=f'plugin "{candidate.name}" was made in code, and its options with it',
                    mend="Remove the option, or hand over the class.",
                )
                for values in self._configuration.options_given(candidate.name).values()
                for value in values
            )
            return named
        if not isinstance(named, type):
            raise BrokenPluginError(
                f"what it names is a {type(named).__name__}, not a class. Name the plugin's class: "
                "its options are built and given to it here"
            )
        return self._instantiate(candidate, named)

    def _instantiate(self, candidate: Candidate, plugin_class: type[Any]) -> object | None:
        try:
            options_class = getattr(plugin_class, "Options", None)
            resolved = self._configuration.options_for(candidate.name, options_class)
        except OptionsClassError as error:
            raise BrokenPluginError(str(error)) from error
        except (Exception, SystemExit) as error:
            raise BrokenPluginError(f"looking at its class raises {describe_with_place(error)}") from error
        self._not_accepted.extend(resolved.not_accepted)
        if resolved.problems:
            self._problems.extend(resolved.problems)
            return None
        self._options[candidate.name] = resolved.provenance
        try:
            plugin: object = plugin_class() if options_class is None else plugin_class(resolved.options)
        except (Exception, SystemExit) as error:
            if isinstance(error, TypeError) and error.__traceback__ and error.__traceback__.tb_next is None:
                raise BrokenPluginError(_cannot_be_called(error, options_class)) from error
            raise BrokenPluginError(
                f"making an instance of it raises {describe_with_place(error)}"
            ) from error
        return plugin

    def _broken(self, candidate: Candidate, cause: str) -> str:
        """Report a broken candidate: a third party's is a warning, any other a problem."""
        cause = printable(cause, 1000)
        if candidate.third_party:
            name = candidate.distribution if _shares_name(candidate, self._candidates) else candidate.name
            distribution = printable(candidate.distribution, 100)
            self._warnings.append(
                f"{candidate} is left out: {_ended(cause)} To silence this: "
                f'disable = ["{printable(name, 100)}"], or uninstall {distribution}.'
            )
        else:
            mend = f"Reinstall {BUNDLED_DISTRIBUTION}." if candidate.bundled else ""
            self._problems.append(Problem(where=str(candidate), what=cause.rstrip("."), mend=mend))
        return f"broken: {cause}"

    def _in_order(self) -> tuple[RegisteredPlugin, ...]:
        try:
            return in_chain_order(self._registered)
        except OrderError as error:
            self._problems.append(Problem(where="order of the plugins", what=str(error).rstrip(".")))
            return ()

    def _name_problems(self) -> Iterator[Problem]:
        """Names that nothing has: of option tables, and in ``only``; and the redaction, if it is missing."""
        plugins = {candidate.name for candidate in self._candidates}
        for name, where in self._configuration.plugin_tables.items():
            if name not in plugins:
                mend = f"Install it, or remove its options. {did_you_mean(name, plugins)}"
                yield Problem(where=where, what=f'there is no plugin "{printable(name, 100)}"', mend=mend)
        known = self._known_names()
        for name in self._configuration.only or ():
            if normal_name(name) not in known:
                yield Problem(
                    where=self._configuration.provenance["only"].where,
                    what=f'there is no plugin or distribution "{printable(name, 100)}"',
                    mend=did_you_mean(name, known),
                )
        wanted = Candidate(name=REDACTION, obtain=object, distribution=BUNDLED_DISTRIBUTION)
        if why_off(wanted, self._configuration.selection) is None and not any(
            candidate.bundled and candidate.name == REDACTION for candidate in self._candidates
        ):
            yield Problem(
                where=str(wanted),
                what="is not installed, so nothing keeps broken protocol out of requests",
                mend=f"Install {BUNDLED_DISTRIBUTION} as a distribution: copied files declare no plugins.",
            )

    def _name_warnings(self) -> Iterator[str]:
        known = self._known_names()
        for name in self._configuration.disable:
            if normal_name(name) not in known:
                where = self._configuration.provenance["disable"].where
                mend = did_you_mean(name, known)
                yield printable(f'{where}: there is no plugin or distribution "{name}" to disable. {mend}')

    def _known_names(self) -> set[str]:
        installed = {name for candidate in self._candidates for name in candidate.names}
        return installed | {BUNDLED_DISTRIBUTION}

    def _rows_not_on(self) -> Iterator[PluginRow]:
        for candidate, state in sorted(self._states.items(), key=lambda item: item[0].name):
            if state != "on":
                yield PluginRow(
                    name=candidate.name,
                    distribution=candidate.distribution,
                    version=candidate.version,
                    state=state,
                )


def _cannot_be_called(error: TypeError, options_class: type[Any] | None) -> str:
    """What an author does about a class that does not take what it is called with."""
    if options_class is None:
        mend = "It has no Options, so it is called without arguments: give every field a default"
    else:
        mend = (
            "It has Options, so it is called with an instance of them: declare the one field "
            "options: Options = attrs.field(factory=Options)"
        )
    return f"making an instance of it raises {describe_exception(error)}. {mend}"


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."


def _shares_name(candidate: Candidate, candidates: Iterable[Candidate]) -> bool:
    return any(other.name == candidate.name and other is not candidate for other in candidates)


def _not_accepted_warning(not_accepted: Sequence[NotAccepted]) -> Iterator[str]:
    if not not_accepted:
        return
    shown = [
        f"{each.key} = {printable(value_text(each.value), 60)}" for each in not_accepted[:SHOWN_NOT_ACCEPTED]
    ]
    rest = len(not_accepted) - len(shown)
    file = not_accepted[0].where.rpartition(": ")[0]
    yield printable(
        f"{file} was found by searching and may only tighten; not accepted: {', '.join(shown)}"
        + (f" and {rest} more" if rest else "")
        + ". To have it all, name the file: CONTINUITY_CONFIG or --config.",
        1000,
    )
