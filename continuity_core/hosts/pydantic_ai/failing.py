"""Reading what ended a model call of pydantic-ai's as a turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import attrs
from pydantic import ValidationError
from pydantic_ai import exceptions
from pydantic_ai.messages import ModelResponse

from continuity_core.errors import classify
from continuity_core.hosts.pydantic_ai.entries import response_ref
from continuity_core.hosts.pydantic_ai.reading import blocks_of, turn_of, usage_of
from continuity_core.model.cause import CauseKind
from continuity_core.model.failure import Failure
from continuity_core.model.stop_reason import StopReason
from continuity_core.model.turn import Turn

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
_HOPE = (
    CauseKind.TRANSIENT,
    CauseKind.RATE_LIMIT,
    CauseKind.USAGE_LIMIT,
    CauseKind.LENGTH,
    CauseKind.UNKNOWN,
)
"""Of several models that failed, the one for which another turn can do most speaks for all."""
_WHOLE = (StopReason.STOP, StopReason.TOOL_USE)
_FALLBACK = "pydantic_ai._fallback"
_REJECTED = "ResponseRejected"


def failed_turn(error: BaseException, partial: ModelResponse | None) -> Turn:
    """The turn whose model call ``error`` ended; ``partial`` is what had come of it.

    Where every model of a fallback failed, it is that of one of them.
    """
    if isinstance(error, exceptions.FallbackExceptionGroup):
        turn = min(_turns_in(error), key=_hope)
    else:
        turn = _turn_of_error(error)
    if partial is None:
        return turn
    return attrs.evolve(
        turn, blocks=tuple(blocks_of(partial)), usage=usage_of(partial), entry=response_ref(partial)
    )


def _turn_of_error(error: BaseException) -> Turn:
    return Turn(stop_reason=StopReason.ERROR, failure=Failure.from_exception(_of_the_client(error)))


# ---------------------------------------------------------------- fallbacks


def _turns_in(group: BaseException) -> Sequence[Turn]:
    """What came of each model: an error, or a response that the fallback has a rule against.

    A whole response that it rejects all the same is no failure of a model's.
    """
    turns = [_turn_of_error(leaf) for leaf in _leaves(group) if type(leaf).__name__ != _REJECTED]
    turns += [turn for turn in map(turn_of, _rejected_in(group)) if turn.stop_reason not in _WHOLE]
    rejected = Failure.from_exception(group, where="host")
    return [attrs.evolve(turn, entry=None) for turn in turns] or [
        Turn(stop_reason=StopReason.ERROR, failure=rejected)
    ]


def _rejected_in(group: BaseException) -> Iterator[ModelResponse]:
    """The responses that were rejected. The error only counts them; what raised it has them."""
    for traceback in _tracebacks(group.__traceback__):
        if traceback.tb_frame.f_globals.get("__name__") == _FALLBACK:
            for response in traceback.tb_frame.f_locals.get("rejected_responses") or ():
                if isinstance(response, ModelResponse):
                    yield response


def _leaves(error: BaseException) -> Sequence[BaseException]:
    if not isinstance(error, ExceptionGroup):
        return [error]
    return [leaf for inner in error.exceptions for leaf in _leaves(inner)]


def _hope(turn: Turn) -> int:
    """The place of what the turn was in ``_HOPE``."""
    if turn.failure is None:
        kind = CauseKind.LENGTH if turn.stop_reason is StopReason.LENGTH else CauseKind.UNKNOWN
    else:
        kind = classify(turn.failure).kind
    return _HOPE.index(kind) if kind in _HOPE else len(_HOPE)


# ---------------------------------------------------------------- errors


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
