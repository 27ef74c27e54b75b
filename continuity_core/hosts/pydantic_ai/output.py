"""What an agent takes for an answer."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin


def accepts_nothing(agent: Any) -> bool:
    """Whether the agent's output type allows none, so that an empty response is an answer.

    An output type that is given to one run is not seen here.
    """
    return _allows_none(getattr(agent, "output_type", None) if agent is not None else str)


def _allows_none(output_type: Any) -> bool:
    if output_type is None or output_type is NoneType:
        return True
    if isinstance(output_type, list | tuple):
        return any(_allows_none(member) for member in output_type)
    if get_origin(output_type) in (Union, UnionType):
        return any(_allows_none(member) for member in get_args(output_type))
    return False
