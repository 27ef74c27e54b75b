"""The request that the runner hands to a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import attrs
from agents import ModelSettings
from openai.types.shared import Reasoning

from continuity_core.model.decisions import Adjust

_NAMES = (
    "system_instructions",
    "input",
    "model_settings",
    "tools",
    "output_schema",
    "handoffs",
    "tracing",
)


@attrs.frozen(eq=False)
class Request:
    """The arguments of ``Model.get_response`` and ``Model.stream_response``, new ones included."""

    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, given: tuple[Any, ...], named: Mapping[str, Any]) -> Request:
        """Read the arguments of a call: the runner hands some over by position, all others by keyword."""
        return cls({**dict(zip(_NAMES, given, strict=False)), **named})

    @property
    def input(self) -> Any:
        """A text, or a list of items in the format of the Responses API."""
        return self.arguments["input"]

    @property
    def model_settings(self) -> ModelSettings:
        """The settings, resolved."""
        return self.arguments["model_settings"]

    @property
    def output_limit(self) -> int | None:
        """The output limit in tokens that it asks for."""
        settings = self.model_settings
        if isinstance(settings.max_tokens, int):
            return settings.max_tokens
        others = settings.extra_args or {}
        limits = (others.get(name) for name in ("max_completion_tokens", "max_output_tokens"))
        return next((limit for limit in limits if isinstance(limit, int)), None)

    @property
    def is_held_by_server(self) -> bool:
        """Whether the provider adds it to a conversation that it keeps."""
        return self.arguments.get("conversation_id") is not None

    @property
    def builds_on_server(self) -> bool:
        """Whether earlier turns are with the provider only."""
        return self.arguments.get("previous_response_id") is not None or self.is_held_by_server

    @property
    def is_unsafe_to_repeat(self) -> bool:
        """Whether a failed request may have run tools already, as programmatic tool calling does."""
        return any(
            type(tool).__name__ == "ProgrammaticToolCallingTool" for tool in self.arguments.get("tools") or ()
        )

    @property
    def retries_natively(self) -> bool:
        """Whether the runner itself would retry it."""
        retry = self.model_settings.retry
        return retry is not None and (retry.max_retries or 0) > 0 and retry.policy is not None

    def with_input(self, input: Any) -> Request:
        """The same with other entries."""
        return self if input is self.input else Request({**self.arguments, "input": input})

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
        settings = dataclasses.replace(self.model_settings, **changes)
        return Request({**self.arguments, "model_settings": settings})
