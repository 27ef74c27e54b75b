"""The capability."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Self

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.capabilities.abstract import CapabilityOrdering
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.output import OutputContext
from pydantic_ai.tools import RunContext, ToolDefinition

from continuity_core.continuity import Continuity
from continuity_core.engine.run import Run
from continuity_core.hosts.adapting import Newest, continuity_of
from continuity_core.hosts.pydantic_ai.cautions import RUN_STREAM, warn_of_hand_driven_stream
from continuity_core.hosts.pydantic_ai.driver import Handler, RunDriver
from continuity_core.model.report import Report

KEPT_REPORTS = 1000
"""Reports that are kept; the oldest goes first."""


class ContinuityCapability(AbstractCapability[Any]):
    """Keeps an agent's runs alive: ``Agent(..., capabilities=[ContinuityCapability()])``, or for one run.

    ``continuity`` is shared with others; without it one is loaded, with ``settings`` (the keys of
    ``[tool.continuity]``) and ``plugins`` besides those found. ``run_stream`` says what becomes of
    ``agent.run_stream()``: it is refused with an error, or goes without recovery of the response that it
    hands out and of responses that break. ``empty_is_answer`` says whether an empty response is a proper
    answer; ``None``: where the agent's output type allows none. ``ending_tools`` are tools after which
    another capability ends the run on purpose; output tools need not be named.
    ``stop_reason_required=False`` is for servers whose streams never carry a stop reason: their end is then
    taken for whole, as the framework does.

    Raises ``ConfigurationError`` where the configuration is not valid.
    """

    id: str | None = "continuity"

    def __init__(
        self,
        *,
        settings: Mapping[str, Any] | None = None,
        plugins: Iterable[object] = (),
        continuity: Continuity | None = None,
        run_stream: Literal["refuse", "unprotected"] = "refuse",
        empty_is_answer: bool | None = None,
        ending_tools: Iterable[str] = (),
        stop_reason_required: bool = True,
        id: str | None = "continuity",
    ) -> None:
        if run_stream not in ("refuse", "unprotected"):
            raise ValueError(f'run_stream takes "refuse" or "unprotected", not {run_stream!r}')
        self.continuity = continuity_of(continuity, settings=settings, plugins=plugins)
        """Holds the plugins and the settings, and switches them on and off."""
        self.run_stream = run_stream
        self.empty_is_answer = empty_is_answer
        self.ending_tools = frozenset(ending_tools)
        self.stop_reason_required = stop_reason_required
        self.id = id
        self.description = None
        self.defer_loading = False
        self._reports: Newest[str, Report] = Newest(KEPT_REPORTS)
        self._drivers: dict[str, RunDriver] = {}
        self._driver: RunDriver | None = None

    # ---------------------------------------------------------------- what may be looked at

    def report(self, run_id: str) -> Report | None:
        """Continuity's report of an agent run, by ``result.run_id``; of its last request, where it had more.

        The last 1000 are kept.
        """
        return self._reports.get(run_id)

    def active_run(self, run_id: str) -> Run | None:
        """Continuity's run that goes on with this agent run, e.g. to abort it."""
        driver = self._drivers.get(run_id)
        return None if driver is None else driver.run

    # ---------------------------------------------------------------- the framework's hooks

    @classmethod
    def combine(cls, capabilities: Sequence[AbstractCapability[Any]]) -> AbstractCapability[Any]:
        """Two of them are one: the last."""
        return capabilities[-1]

    def get_ordering(self) -> CapabilityOrdering:
        """Outside of all others: what they recover is never seen here."""
        return CapabilityOrdering(position="outermost")

    async def for_run(self, ctx: RunContext[Any]) -> Self:
        """A copy with the state of one agent run."""
        bound = copy.copy(self)
        bound._driver = RunDriver(
            continuity=self.continuity,
            on_report=self._reports.put,
            empty_is_answer=self.empty_is_answer,
            ending_tools=self.ending_tools,
            stop_reason_required=self.stop_reason_required,
        )
        return bound

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Callable[[], Awaitable[Any]]) -> Any:
        driver = self._driver
        if driver is None:
            return await handler()
        key = ctx.run_id or ""
        self._drivers[key] = driver
        try:
            return await driver.around(ctx, handler)
        finally:
            self._drivers.pop(key, None)

    async def before_node_run(self, ctx: RunContext[Any], *, node: Any) -> Any:
        driver = self._driver
        streams = driver is not None and not driver.in_node and driver.recovers
        if streams and self.run_stream == "refuse":
            raise UserError(RUN_STREAM)
        return node

    async def wrap_node_run(self, ctx: RunContext[Any], *, node: Any, handler: Handler) -> Any:
        driver = self._driver
        return await (handler(node) if driver is None else driver.step(ctx, node, handler))

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        driver = self._driver
        if driver is None:
            return request_context
        if request_context.streaming and not driver.in_node and driver.recovers:
            warn_of_hand_driven_stream()
        return driver.prepare(ctx, request_context)

    async def after_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
    ) -> dict[str, Any]:
        if self._driver is not None:
            self._driver.check_call(call)
        return args

    async def before_output_process(
        self, ctx: RunContext[Any], *, output_context: OutputContext, output: Any
    ) -> Any:
        if self._driver is not None and output_context.has_function and not ctx.partial_output:
            self._driver.check_call(output_context.tool_call)
        return output
