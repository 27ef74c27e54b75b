"""The request that the runner hands to a model."""

from __future__ import annotations

import dataclasses
from typing import Any

import attrs
from agents import ModelSettings
from openai.types.shared import Reasoning

from continuity_core.model.decisions import Adjust


@attrs.frozen(kw_only=True, eq=False)
class Request:
    """The arguments of ``Model.get_response`` and ``Model.stream_response``."""

    system_instructions: Any
    input: Any
    model_settings: ModelSettings
    tools: Any
    output_schema: Any
    handoffs: Any
    tracing: Any
    previous_response_id: str | None
    conversation_id: str | None
    prompt: Any

    @property
    def arguments(self) -> dict[str, Any]:
        """All of it by keyword, as the runner itself hands it over."""
        return attrs.asdict(self, recurse=False)

    @property
    def output_limit(self) -> int | None:
        """The output limit in tokens that it asks for."""
        settings = self.model_settings
        if settings.max_tokens is not None:
            return settings.max_tokens
        others = settings.extra_args or {}
        limits = (others.get(name) for name in ("max_completion_tokens", "max_output_tokens"))
        return next((limit for limit in limits if isinstance(limit, int)), None)

    @property
    def is_held_by_server(self) -> bool:
        """Whether the provider adds it to a conversation that it keeps."""
        return self.conversation_id is not None

    @property
    def builds_on_server(self) -> bool:
        """Whether earlier turns are with the provider only."""
        return self.previous_response_id is not None or self.is_held_by_server

    @property
    def is_unsafe_to_repeat(self) -> bool:
        """Whether a failed request may have run tools already, as programmatic tool calling does."""
        return any(type(tool).__name__ == "ProgrammaticToolCallingTool" for tool in self.tools or ())

    @property
    def retries_natively(self) -> bool:
        """Whether the runner itself would retry it."""
        retry = self.model_settings.retry
        return retry is not None and (retry.max_retries or 0) > 0 and retry.policy is not None

    def with_input(self, input: Any) -> Request:
        """The same with other entries."""
        return self if input is self.input else attrs.evolve(self, input=input)

    def adjusted(self, adjust: Adjust | None) -> Request:
        """The same with the settings that continuity asks for in this one turn."""
        if adjust is None:
            return self
        changes: dict[str, Any] = {}
        if adjust.max_output_tokens is not None:
            changes["max_tokens"] = adjust.max_output_tokens
        if adjust.reasoning_effort is not None:
            own = self.model_settings.reasoning or Reasoning()
            changes["reasoning"] = own.model_copy(update={"effort": adjust.reasoning_effort.value})
        return attrs.evolve(self, model_settings=dataclasses.replace(self.model_settings, **changes))
