"""The middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, hook_config
from langchain.agents.middleware.types import PrivateStateAttr

from continuity_core.continuity import Continuity
from continuity_core.engine.run import Run, SyncRun
from continuity_core.hosts.adapting import continuity_of
from continuity_core.hosts.langchain.boundaries import STATE, Hooks
from continuity_core.hosts.langchain.driving import drive, drive_sync
from continuity_core.hosts.langchain.live import Invocation, Kind, Live
from continuity_core.hosts.langchain.lives import Lives
from continuity_core.model.report import Report


class ContinuityState(AgentState[Any]):
    """The agent's state with the run; private: it is neither input nor output, and checkpoints keep it."""

    continuity: Annotated[dict[str, Any], PrivateStateAttr]


class ContinuityMiddleware(AgentMiddleware[Any, Any, Any]):
    """Keeps the runs of an agent alive: ``create_agent(..., middleware=[ContinuityMiddleware()])``.

    List it first: what is listed after it, ``ModelRetryMiddleware`` for instance, has first refusal.
    """

    state_schema = ContinuityState
    tools = ()

    def __init__(
        self,
        *,
        settings: Mapping[str, Any] | None = None,
        plugins: Iterable[object] = (),
        continuity: Continuity | None = None,
        ending_tools: Iterable[str] = (),
    ) -> None:
        """Use ``continuity``, else load one with these ``settings`` and ``plugins``.

        ``ending_tools`` names tools after which the agent ends on purpose, beside those with
        ``return_direct``. Raises :class:`ConfigurationError` for a configuration that is not valid, and
        ``ValueError`` where ``continuity`` comes together with what it would be made of.
        """
        super().__init__()
        self.continuity = continuity_of(continuity, settings=settings, plugins=plugins)
        """Plugins and settings in force; ``disable()``, ``enable()`` and ``mode`` switch recovery."""
        self._ending_tools = frozenset(ending_tools)
        self._lives = Lives(self.continuity)

    # ---------------------------------------------------------------- for the application

    def run_of(self, thread_id: str | None = None) -> Run | SyncRun | None:
        """The run that goes on in a thread, e.g. to ``abort()`` it or to tell of ``input_arrived(...)``.

        Without a thread, the run that began last. May be called from any thread or task.
        """
        return self._lives.run_of(thread_id)

    def report_of(self, thread_id: str | None = None) -> Report | None:
        """The report of the run that ended last in a thread; of the last of all without one."""
        return self._lives.report_of(thread_id)

    # ---------------------------------------------------------------- hooks

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """A real user request; an invocation that goes on with an earlier one does not come here."""
        return self._begin(SyncRun, state, runtime)

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """As :meth:`before_agent`."""
        return self._begin(Run, state, runtime)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[Any], Any]) -> Any:
        """One turn, and as many more as it takes."""
        saved = request.state.get(STATE)
        hooks = self._hooks(SyncRun, request.runtime, saved)
        run = hooks.live.run
        assert isinstance(run, SyncRun)
        return drive_sync(hooks.model_call(request, saved), run, handler)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        """As :meth:`wrap_model_call`."""
        saved = request.state.get(STATE)
        hooks = self._hooks(Run, request.runtime, saved)
        run = hooks.live.run
        assert isinstance(run, Run)
        return await drive(hooks.model_call(request, saved), run, handler)

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """The agent would end: go on after a tool tail, else settle the run."""
        hooks = self._hooks(SyncRun, runtime, state.get(STATE))
        run = hooks.live.run
        assert isinstance(run, SyncRun)
        update: dict[str, Any] = drive_sync(hooks.end(state), run)
        return update

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """As :meth:`after_agent`."""
        hooks = self._hooks(Run, runtime, state.get(STATE))
        run = hooks.live.run
        assert isinstance(run, Run)
        update: dict[str, Any] = await drive(hooks.end(state), run)
        return update

    # ---------------------------------------------------------------- inside

    def _begin(self, kind: Kind, state: Mapping[str, Any], runtime: Any) -> dict[str, Any]:
        invocation = Invocation.of(runtime)
        live = self._lives.begin(kind, invocation, state.get(STATE))
        return self._hooks_of(live, invocation).update()

    def _hooks(self, kind: Kind, runtime: Any, saved: Mapping[str, Any] | None) -> Hooks:
        invocation = Invocation.of(runtime)
        return self._hooks_of(self._lives.of(kind, invocation, saved), invocation)

    def _hooks_of(self, live: Live, invocation: Invocation) -> Hooks:
        return Hooks(lives=self._lives, live=live, invocation=invocation, ending_tools=self._ending_tools)
