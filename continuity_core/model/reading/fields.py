"""Looking into SDK objects and plain dicts alike; what is missing, or raises, is ``None``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def field(owner: Any, name: str) -> Any:
    """The key of a mapping or the attribute of an object; ``None`` where it is missing or raises."""
    if isinstance(owner, Mapping):
        return owner.get(name)
    try:
        return getattr(owner, name, None)
    except Exception:
        return None


def text(value: Any) -> str:
    """``value`` where it is text, else nothing."""
    return value if isinstance(value, str) else ""


def items(value: Any) -> tuple[Any, ...]:
    """The members of a list or tuple; anything else has none."""
    return tuple(value) if isinstance(value, list | tuple) else ()


def number(value: Any) -> int | None:
    """A count of tokens."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        return None
    return int(value)


def plain(value: Any) -> Any:
    """An SDK object as the dict it stands for; everything else as it is. Serves as ``default`` of JSON."""
    for name in ("model_dump", "to_dict", "dict"):
        method = field(value, name)
        if callable(method) and not isinstance(value, Mapping | type):
            try:
                return method(exclude_unset=True) if name == "model_dump" else method()
            except Exception:
                continue
    return dict(value) if isinstance(value, Mapping) else value


def as_json(value: Any) -> str:
    """JSON of any value, stable for equal values; what JSON cannot say becomes text."""

    def default(inner: Any) -> Any:
        simpler = plain(inner)
        return simpler if isinstance(simpler, dict) else f"<{type(inner).__qualname__}>"

    try:
        return json.dumps(value, ensure_ascii=False, default=default, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__qualname__}>"


def arguments_text(value: Any) -> str:
    """Arguments of a call as the raw string; servers that send an object get its JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False, default=plain)
