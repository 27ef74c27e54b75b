"""Every table of wordings under the name by which the order of evidence asks for it."""

from __future__ import annotations

from typing import Final

from continuity_core.errors.matching import Tables
from continuity_core.errors.tables import elsewhere, length, limits, overflow, permanent, transient

WORDINGS: Final = Tables(
    {
        "cancelled": elsewhere.CANCELLED,
        "elsewhere": elsewhere.NOT_THE_PROVIDER,
        "parameter": permanent.PARAMETER,
        "length": length.LENGTH,
        "too-large": overflow.TOO_LARGE,
        "overflow": overflow.OVERFLOW,
        "safety": permanent.SAFETY,
        "auth": permanent.AUTH,
        "billing": permanent.BILLING,
        "openai-quota": permanent.OPENAI_QUOTA,
        "usage": limits.USAGE,
        "daily": limits.DAILY_BUCKET,
        "short-window": limits.SHORT_WINDOW,
        "throttle": limits.THROTTLE,
        "vague-limit": limits.VAGUE_LIMIT,
        "billing-offer": permanent.OFFERS,
        "overload": transient.OVERLOAD,
        "certificate": permanent.CERTIFICATES,
        "transport": transient.TRANSPORT,
        "server": transient.SERVER_FAULT,
        "hopeless": permanent.HOPELESS,
        "invalid": permanent.INVALID,
        "vague": transient.VAGUE_FAULT,
    }
)
