"""Every table of wordings under the name by which the order of evidence asks for it."""

from __future__ import annotations

from typing import Final

from continuity_core.errors.matching import Tables
from continuity_core.errors.tables import (
    billing,
    certificates,
    elsewhere,
    length,
    overflow,
    requests,
    safety,
    server_faults,
    sign_in,
    throttles,
    transport,
    windows,
)

WORDINGS: Final = Tables(
    {
        "cancelled": elsewhere.CANCELLED,
        "elsewhere": elsewhere.NOT_THE_PROVIDER,
        "parameter": requests.PARAMETER,
        "length": length.LENGTH,
        "too-large": overflow.TOO_LARGE,
        "overflow": overflow.OVERFLOW,
        "safety": safety.SAFETY,
        "auth": sign_in.AUTH,
        "billing": billing.BILLING,
        "openai-quota": billing.OPENAI_QUOTA,
        "usage": windows.USAGE,
        "vague-window": windows.VAGUE_WINDOW,
        "daily": windows.DAILY_BUCKET,
        "short-window": throttles.SHORT_WINDOW,
        "throttle": throttles.THROTTLE,
        "vague-limit": throttles.VAGUE_LIMIT,
        "billing-offer": billing.OFFERS,
        "overload": server_faults.OVERLOAD,
        "certificate": certificates.CERTIFICATES,
        "transport": transport.TRANSPORT,
        "server": server_faults.SERVER_FAULT,
        "hopeless": requests.HOPELESS,
        "invalid": requests.INVALID,
        "vague": server_faults.VAGUE_FAULT,
    }
)
