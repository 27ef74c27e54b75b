"""Values, rows and refusals as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from continuity_core.loading.plugin_set import PluginRow
from continuity_core.loading.sources import NotAccepted, Provenance
from continuity_core.model.options import UNLIMITED


def value_json(value: object) -> Any:
    """A value as JSON; what JSON does not have becomes its text."""
    if isinstance(value, Enum):
        return value_json(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [value_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): value_json(item) for key, item in value.items()}
    return str(value)


def provenance_json(told: Provenance) -> dict[str, Any]:
    """A value with its source."""
    value = UNLIMITED if told.value is None and told.text == UNLIMITED else value_json(told.value)
    return {"value": value, "source": told.source.name.lower(), "where": told.where}


def not_accepted_json(refused: NotAccepted) -> dict[str, Any]:
    """What was not accepted, from where, and why."""
    return {
        "key": refused.key,
        "value": value_json(refused.value),
        "where": refused.where,
        "why": refused.why,
    }


def row_json(row: PluginRow) -> dict[str, Any]:
    """One line of the table of plugins."""
    return {
        "order": row.order,
        "stage": row.stage,
        "name": row.name,
        "distribution": row.distribution,
        "version": row.version,
        "hooks": list(row.hooks),
        "state": row.state,
        "options": {name: provenance_json(told) for name, told in row.options.items()},
    }
