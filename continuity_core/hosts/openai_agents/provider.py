"""The provider whose models recover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from agents import MultiProvider
from agents.models.interface import Model, ModelProvider

from continuity_core.continuity import Continuity
from continuity_core.hosts.openai_agents.model import ContinuityModel
from continuity_core.hosts.openai_agents.runs import AgentRuns
from continuity_core.model.report import Report


class ContinuityProvider(ModelProvider):
    """``provider`` with continuity: ``RunConfig(model_provider=ContinuityProvider())``.

    Without ``provider`` it is the framework's default one. ``continuity`` is a :class:`Continuity` to share;
    without it one is loaded, with ``settings`` and ``plugins`` as by :meth:`Continuity.load`. ``on_report``
    is called with the report of every run that ends. An agent whose ``model`` is a ``Model`` and not a name
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
    ) -> None:
        self.continuity = continuity or Continuity.load(settings=settings, plugins=plugins)
        """Plugins and settings in force, with the switches."""
        self.wrapped: ModelProvider = provider or MultiProvider()
        """The framework's own provider."""
        self._models: WeakValueDictionary[int, ContinuityModel] = WeakValueDictionary()
        if on_report is not None:
            AgentRuns.of(self.continuity).listeners.append(on_report)

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
