"""The provider whose models recover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from agents import MultiProvider
from agents.models.interface import Model, ModelProvider

from continuity_core.continuity import Continuity
from continuity_core.hosts.adapting import continuity_of
from continuity_core.hosts.openai_agents.model import ContinuityModel
from continuity_core.hosts.openai_agents.runs import AgentRuns
from continuity_core.model.report import Report
from continuity_core.model.turn import Turn


class ContinuityProvider(ModelProvider):
    """``provider`` with continuity: ``RunConfig(model_provider=ContinuityProvider())``.

    Without ``provider`` it is the framework's default one. ``continuity`` is a :class:`Continuity` to share;
    without it one is loaded, with ``settings`` and ``plugins`` as by :meth:`Continuity.load`. ``on_report``
    is called with the report of every run that ends, ``on_dropped`` with every turn that is left out, since
    the framework never sees it. An agent whose ``model`` is a ``Model`` and not a name
    is asked past any provider: wrap that model in :class:`ContinuityModel`.
    """

    def __init__(
        self,
        provider: ModelProvider | None = None,
        *,
        continuity: Continuity | None = None,
        settings: Mapping[str, Any] | None = None,
        plugins: Iterable[object] = (),
        on_report: Callable[[Report], Any] | None = None,
        on_dropped: Callable[[Turn], Any] | None = None,
    ) -> None:
        self.continuity = continuity_of(continuity, settings=settings, plugins=plugins)
        """Plugins and settings in force, with the switches."""
        self.wrapped: ModelProvider = provider or MultiProvider()
        """The framework's own provider."""
        self._models: WeakValueDictionary[int, ContinuityModel] = WeakValueDictionary()
        runs = AgentRuns.of(self.continuity)
        runs.listeners += [] if on_report is None else [on_report]
        runs.drop_listeners += [] if on_dropped is None else [on_dropped]

    def __getattr__(self, name: str) -> Any:
        if name == "wrapped":
            raise AttributeError(name)
        return getattr(self.wrapped, name)

    def get_model(self, model_name: str | None) -> Model:
        """The provider's model of that name, with continuity: the same object for the same model."""
        model = self.wrapped.get_model(model_name)
        if isinstance(model, ContinuityModel):
            return model
        known = self._models.get(id(model))  # A model lives as long as what wraps it.
        if known is None:
            known = ContinuityModel(model, continuity=self.continuity)
            self._models[id(model)] = known
        return known

    async def aclose(self) -> None:
        """Release what the provider holds."""
        await self.wrapped.aclose()
