"""The drivers by name; each is imported only when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import cast

import attrs

from continuity_core.loading.suggesting import did_you_mean
from continuity_core.model.masking import printable
from continuity_core.testing.conformance.host import ConformanceHost


@attrs.frozen
class Driver:
    """Where a driver is, and the extra of the distribution that brings its host."""

    target: str
    """``module:class``; the class is called without arguments."""
    extra: str
    packages: tuple[str, ...] = ()
    """Imported before anything is played: an import blocks, and counts in no time limit."""


DRIVERS: Mapping[str, Driver] = {
    "langchain": Driver("continuity_core.testing.conformance.hosts.langchain:LangChainHost", "langchain"),
    "openai-agents": Driver(
        "continuity_core.testing.conformance.hosts.openai_agents:OpenAIAgentsHost",
        "openai-agents",
        ("agents", "openai"),
    ),
    "openai-agents-provider": Driver(
        "continuity_core.testing.conformance.hosts.openai_agents:OpenAIAgentsProviderHost",
        "openai-agents",
        ("agents", "openai"),
    ),
    "langchain-sync": Driver(
        "continuity_core.testing.conformance.hosts.langchain:LangChainSyncHost", "langchain"
    ),
    "openhands": Driver("continuity_core.testing.conformance.hosts.openhands:OpenHandsHost", "openhands"),
    "openjiuwen": Driver(
        "continuity_core.testing.conformance.hosts.openjiuwen:OpenJiuwenHost", "openjiuwen", ("openjiuwen",)
    ),
    "pi": Driver("continuity_core.testing.conformance.hosts.pi.driver:PiHost", "pi"),
    "pydantic-ai": Driver(
        "continuity_core.testing.conformance.hosts.pydantic_ai_driver:PydanticAIHost",
        "pydantic-ai",
        (
            "pydantic_ai",
            "genai_prices.data",
            "openai.resources.chat.completions",
            "openai.resources.responses",
            "anthropic.resources.messages",
        ),
    ),
    "reference": Driver(
        "continuity_core.testing.conformance.hosts.reference:ReferenceHost", "demo", ("openai", "anthropic")
    ),
}


class HostError(ValueError):
    """There is no such host here; the message says what to do."""


def load_host(name: str) -> ConformanceHost:
    """The driver of that name, or the one at ``module:class``. Raises :class:`HostError`.

    A name may be written as its package is, with underscores.
    """
    driver = DRIVERS.get(name.replace("_", "-"))
    if driver is None:
        if ":" not in name:
            raise HostError(
                f"there is no host named {printable(name, 80)!r}. {did_you_mean(name, DRIVERS)} "
                "A driver of your own is named as module:class."
            )
        driver = Driver(name, "")
    module, _, attribute = driver.target.partition(":")
    try:
        for package in driver.packages:
            importlib.import_module(package)
        made = getattr(importlib.import_module(module), attribute)()
    except ModuleNotFoundError as error:
        raise HostError(_missing(name, driver, str(error.name))) from error
    except (AttributeError, ImportError) as error:
        raise HostError(f"host {printable(name, 80)}: {printable(str(error), 300)}") from error
    return cast(ConformanceHost, made)


def _missing(name: str, driver: Driver, package: str) -> str:
    mend = f"pip install 'continuity-core[{driver.extra}]'" if driver.extra else "is it on the path?"
    return f"host {printable(name, 80)} needs the package {package}: {mend}"
