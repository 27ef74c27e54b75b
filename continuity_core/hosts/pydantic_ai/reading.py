"""Reading pydantic-ai's responses and errors as turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import attrs
from pydantic import ValidationError
from pydantic_ai import exceptions
from pydantic_ai.messages import (
    CompactionPart,
    FilePart,
    ModelRequest,
    ModelResponse,
    SpeechPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)

from continuity_core.errors import classify
from continuity_core.hosts.pydantic_ai.entries import part_ref, response_ref
from continuity_core.model.cause import CauseKind
from continuity_core.model.failure import Failure
from continuity_core.model.reading.stop_words import NO_STOP_WORD, Stop, read_stop_word
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Block, Reasoning, Text, ToolCall, ToolResult, Turn, Usage

_FINISH_REASONS = {
    "stop": "stop",
    "length": "length",
    "tool_call": "tool_calls",
    "content_filter": "content_filter",
}
_HOST_ERRORS = (
    exceptions.UserError,
    exceptions.UsageLimitExceeded,
    exceptions.ConcurrencyLimitExceeded,
    exceptions.RunCancelled,
)
_MODEL_ERRORS = (
    exceptions.ModelAPIError,
    exceptions.FallbackExceptionGroup,
    exceptions.UnexpectedModelBehavior,
)
_HOPE = {
    CauseKind.TRANSIENT: 0,
    CauseKind.RATE_LIMIT: 1,
    CauseKind.USAGE_LIMIT: 2,
    CauseKind.LENGTH: 3,
    CauseKind.UNKNOWN: 4,
}
"""Of several models that failed, the one for which another turn can do most speaks for all."""


# ---------------------------------------------------------------- responses


def turn_of(response: ModelResponse, *, must_say_why: bool = False) -> Turn:
    """The turn of a response that pydantic-ai accepted.

    ``must_say_why`` says that the provider's own word for the stop has to be there: pydantic-ai takes a
    stream that ends without one for whole.
    """
    stop = _stop_of(response, must_say_why)
    return Turn(
        stop_reason=stop.reason,
        blocks=tuple(blocks_of(response)),
        usage=usage_of(response),
        failure=stop.failure,
        provider_stop=_raw_word(response) or response.finish_reason,
        unfinished=stop.unfinished,
        entry=response_ref(response),
    )


def blocks_of(response: ModelResponse) -> Iterator[Block]:
    """The blocks of a response; what tools of the provider did is none."""
    for part in response.parts:
        if isinstance(part, TextPart):
            yield Text(part.content)
        elif isinstance(part, ThinkingPart):
            yield Reasoning(part.content, redacted=not part.content and bool(part.signature))
        elif isinstance(part, ToolCallPart):
            yield ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str())
        elif isinstance(part, FilePart):
            yield Text(f"<{part.content.media_type} {part.content.identifier}>")
        elif isinstance(part, SpeechPart | CompactionPart) and part.content:
            yield Text(part.content)


def usage_of(response: ModelResponse) -> Usage:
    """The tokens of a response; pydantic-ai has 0 for what a provider did not report."""
    usage = response.usage
    return Usage(
        input_tokens=usage.input_tokens or None,
        output_tokens=usage.output_tokens or None,
        cached_input_tokens=usage.cache_read_tokens or None,
        reasoning_tokens=usage.details.get("reasoning_tokens"),
    )


def _stop_of(response: ModelResponse, must_say_why: bool) -> Stop:
    if response.state == "suspended":
        return Stop(StopReason.STOP, unfinished=True)
    if response.state == "interrupted" and response.finish_reason is None:
        return Stop(StopReason.ABORTED)
    raw = _raw_word(response)
    if raw is not None:
        stop = read_stop_word(raw)
        if stop.failure is None or classify(stop.failure).kind is not CauseKind.UNKNOWN:
            return stop
    elif must_say_why and response.finish_reason != "content_filter":
        return Stop(StopReason.ERROR, Failure.from_text(NO_STOP_WORD))
    known = _FINISH_REASONS.get(response.finish_reason or "")
    if known is not None:
        return read_stop_word(known)
    if response.finish_reason == "error":
        return Stop(StopReason.ERROR, Failure.from_text(f"Provider finish_reason: {raw or 'error'}"))
    return Stop(StopReason.TOOL_USE if response.tool_calls else StopReason.STOP)


def _raw_word(response: ModelResponse) -> str | None:
    word = (response.provider_details or {}).get("finish_reason")
    return word if isinstance(word, str) and word else None


def results_in(request: ModelRequest) -> tuple[ToolResult, ...]:
    """The tool results that a request carries."""
    found = []
    for part in request.parts:
        call_id = getattr(part, "tool_call_id", None)
        if call_id and part.part_kind in ("tool-return", "retry-prompt"):
            outcome = getattr(part, "outcome", "success")
            failed = part.part_kind == "retry-prompt" or outcome != "success"
            found.append(ToolResult(call_id=call_id, entry=part_ref(part), is_error=failed))
    return tuple(found)


# ---------------------------------------------------------------- errors


def failed_turn(error: BaseException, partial: ModelResponse | None) -> Turn:
    """The turn whose model call ``error`` ended; ``partial`` is what had come of it."""
    turn = Turn(stop_reason=StopReason.ERROR, failure=failure_of(error))
    if partial is None:
        return turn
    return attrs.evolve(
        turn, blocks=tuple(blocks_of(partial)), usage=usage_of(partial), entry=response_ref(partial)
    )


def failure_of(error: BaseException) -> Failure:
    """What is known of a failed model call; of several models' the one that another turn can help most."""
    if not isinstance(error, exceptions.FallbackExceptionGroup):
        return Failure.from_exception(_of_the_client(error))
    failures = [failure_of(inner) for inner in _leaves(error)]
    return min(failures, key=lambda failure: _HOPE.get(classify(failure).kind, 5))


def _of_the_client(error: Any) -> Any:
    """What the provider's client raised, where the framework's error is made of it.

    The framework words every HTTP error around the body, and every response that it cannot read as a
    validation error, as if the request had been wrong.
    """
    cause = error.__cause__
    if isinstance(error, exceptions.ModelAPIError) and isinstance(cause, Exception):
        return cause
    if isinstance(error, exceptions.UnexpectedModelBehavior) and isinstance(cause, ValidationError):
        return exceptions.UnexpectedModelBehavior(error.message.partition(":")[0], error.body)
    return error


def _leaves(error: BaseException) -> Sequence[BaseException]:
    if not isinstance(error, ExceptionGroup):
        return [error]
    return [leaf for inner in error.exceptions for leaf in _leaves(inner)]


def is_of_the_model(error: Exception) -> bool:
    """Whether the model call failed, and not the host, a hook, or a consumer of the stream."""
    if isinstance(error, _HOST_ERRORS) or isinstance(error.__cause__, exceptions.ModelRetry):
        return False
    return isinstance(error, _MODEL_ERRORS) or any(
        _calls_a_model(traceback) for traceback in _tracebacks(error.__traceback__)
    )


def _tracebacks(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _calls_a_model(traceback: TracebackType) -> bool:
    module: Any = traceback.tb_frame.f_globals.get("__name__", "")
    if module == "pydantic_ai._agent_graph":
        return traceback.tb_frame.f_code.co_name == "model_request"
    return module == "pydantic_ai.models" or str(module).startswith("pydantic_ai.models.")
