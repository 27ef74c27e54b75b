"""Reading any provider's error: what kind it is, and how long to wait. Usable alone.

>>> from continuity_core.errors import Failure, classify
>>> cause = classify(Failure.from_text("429 Too Many Requests", headers={"retry-after": "41"}))
>>> cause.kind.value, cause.guidance[0].seconds
('rate_limit', 41.0)
"""

from continuity_core.errors.classification import USAGE_WINDOW_SECONDS, classify
from continuity_core.errors.guidance import wait_guidance
from continuity_core.errors.rules import ErrorRule
from continuity_core.model.cause import Cause, CauseKind, Guidance
from continuity_core.model.failure import Failure

__all__ = [
    "USAGE_WINDOW_SECONDS",
    "Cause",
    "CauseKind",
    "ErrorRule",
    "Failure",
    "Guidance",
    "classify",
    "wait_guidance",
]
