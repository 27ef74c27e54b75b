"""What other projects do with the same errors: their own code decides, on the cases of this project's tests.

It needs them, best in an environment of its own:

    python -m venv compared
    compared/bin/pip install litellm langchain-openai openai anthropic attrs
    PYTHONPATH=. compared/bin/python benchmarks/errors_compared.py [FILE.jsonl ...]

Each case becomes the exception that the SDK would have raised for it: by its status, headers and body; for a
transport that broke; or, without a status, as an error inside a stream. A library that is missing is named.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from errors import CASES, Case, longest_wait, read_cases, verdict_on, wait_is_right

Decision: TypeAlias = tuple[str, float | None]
"""What a library would do (``retry``, ``shrink``, ``stop``), and the seconds of the wait that it read."""

OF_THE_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers of the body as it was sent, which is here as text."""
ACTIONS = {
    "transient": "retry",
    "rate_limit": "retry",
    "usage_limit": "wait",
    "context_overflow": "shrink",
    "length": "resume",
    "permanent": "stop",
    "cancelled": "stop",
    "unknown": "any",
}
"""The right action by label. What is unknown may be tried again or given up: every decision is right."""
CONNECTION_WORDS = (
    "connect",
    "timeout",
    "protocol",
    "disconnect",
    "socket",
    "ssl",
    "readerror",
    "brokenpipe",
    "incomplete",
)


def looks_like_transport(case: Case) -> bool:
    """Whether an SDK would have met this below HTTP, by the exception or the code that the case names."""
    told = f"{case['exception'] or ''} {case.get('code') or ''}".lower()
    return any(word in told for word in CONNECTION_WORDS) or told.strip().startswith(
        ("econn", "etimedout", "epipe", "und_err", "err_http2", "eai_")
    )


def sdk_exception(sdk: Any, client: Any, case: Case) -> Any:
    """What the SDK would have raised: by status, by transport, or for an error inside a stream."""
    http = importlib.import_module(
        "httpx2" if "httpx2" in str(sdk.APIError.__init__.__annotations__) else "httpx"
    )
    request = http.Request("POST", "https://api.invalid/v1")
    status = case["status"]
    if status is not None and status >= 400:
        body = case["body"] or json.dumps({"error": {"message": case["text"]}})
        told = {
            name: value for name, value in (case["headers"] or {}).items() if name.lower() not in OF_THE_BODY
        }
        response = http.Response(status, headers=told, content=body.encode(), request=request)
        return client._make_status_error_from_response(response)
    if "timeout" in (case["exception"] or "").lower():
        return sdk.APITimeoutError(request=request)
    if looks_like_transport(case):
        return sdk.APIConnectionError(message=case["text"], request=request)
    return sdk.APIError(case["text"], request, body=None)


def by_sdk(name: str) -> Callable[[Case], Decision]:
    """The SDK's own decision to send the same request once more."""
    sdk = importlib.import_module(name)
    client = (sdk.OpenAI if name == "openai" else sdk.Anthropic)(api_key="none")

    def decide(case: Case) -> Decision:
        raised = sdk_exception(sdk, client, case)
        if isinstance(raised, sdk.APIStatusError):
            seconds = client._parse_retry_after_header(raised.response.headers)
            return ("retry" if client._should_retry(raised.response) else "stop"), seconds
        return ("retry" if isinstance(raised, sdk.APIConnectionError) else "stop"), None

    return decide


def by_litellm() -> Callable[[Case], Decision]:
    """litellm's exception mapping, then its own question whether a status is tried again."""
    litellm = importlib.import_module("litellm")
    mapping = importlib.import_module("litellm.litellm_core_utils.exception_mapping_utils")
    openai = importlib.import_module("openai")
    client = openai.OpenAI(api_key="none")
    litellm.suppress_debug_info = True
    providers = (
        "anthropic",
        "azure",
        "bedrock",
        "cohere",
        "deepseek",
        "groq",
        "mistral",
        "openrouter",
        "ollama",
    )

    def provider_of(case: Case) -> str:
        told = case["agent_or_provider"].lower()
        if "claude" in told:
            return "anthropic"
        if "vertex" in told:
            return "vertex_ai"
        if "gemini" in told:
            return "gemini"
        return next((name for name in providers if name in told), "openai")

    def decide(case: Case) -> Decision:
        original = sdk_exception(openai, client, case)
        try:
            mapping.exception_type(
                model="some-model", original_exception=original, custom_llm_provider=provider_of(case)
            )
        except Exception as mapped:
            if isinstance(mapped, litellm.ContextWindowExceededError):
                return "shrink", None
            status = getattr(mapped, "status_code", None)
            seconds = litellm.utils._get_retry_after_from_exception_header(case["headers"] or {})
            retry = isinstance(status, int) and litellm._should_retry(status)
            return ("retry" if retry else "stop"), (seconds if seconds and seconds > 0 else None)
        return "stop", None

    return decide


def by_langchain() -> Callable[[Case], Decision]:
    """LangChain's mapping of OpenAI's exceptions, then ``is_retryable``."""
    base = importlib.import_module("langchain_openai.chat_models.base")
    core = importlib.import_module("langchain_core.exceptions")
    openai = importlib.import_module("openai")
    client = openai.OpenAI(api_key="none")

    def decide(case: Case) -> Decision:
        raised = sdk_exception(openai, client, case)
        try:
            if isinstance(raised, openai.BadRequestError):
                base._handle_openai_bad_request(raised)
            else:
                try:
                    raise raised
                except openai.APIError as error:
                    base._handle_openai_api_error(error)
        except core.ContextOverflowError:
            return "shrink", None
        except Exception as mapped:
            return ("retry" if getattr(mapped, "is_retryable", False) else "stop"), None
        return "stop", None

    return decide


def by_this() -> Callable[[Case], Decision]:
    """This project."""

    def decide(case: Case) -> Decision:
        cause = verdict_on(case)
        action = ACTIONS[cause.kind]
        return ("stop" if action == "any" else action), longest_wait(case, cause)

    return decide


def action_is_right(case: Case, action: str) -> bool:
    """Exactly the right action."""
    wanted = ACTIONS[case["label"]]
    return wanted in ("any", action)


def retry_is_right(case: Case, action: str) -> bool:
    """Whether the same request would be tried again where that helps, now or later, and only there."""
    wanted = ACTIONS[case["label"]]
    return wanted == "any" or (wanted in ("retry", "wait")) == (action in ("retry", "wait"))


def compare(paths: list[Path]) -> None:
    """A row a library: right actions, right decisions to retry, stated waits read."""
    cases = read_cases(paths)
    stated = [case for case in cases if case["wait"]["kind"] != "none"]
    print(f"{len(cases)} cases, {len(stated)} of them with a stated wait")
    print("| who | right action | right to retry or not | stated waits read |\n|---|---|---|---|")
    makers: dict[str, Callable[[], Callable[[Case], Decision]]] = {
        "OpenAI SDK": lambda: by_sdk("openai"),
        "Anthropic SDK": lambda: by_sdk("anthropic"),
        "litellm": by_litellm,
        "LangChain": by_langchain,
        "continuity-core": by_this,
    }
    for name, make in makers.items():
        try:
            with contextlib.redirect_stdout(sys.stderr):
                decide = make()
                decisions = [decide(case) for case in cases]
        except ModuleNotFoundError as error:
            print(f"| {name} | not installed here ({error.name}) | | |")
            continue
        actions = sum(
            action_is_right(case, action) for case, (action, _) in zip(cases, decisions, strict=True)
        )
        retries = sum(
            retry_is_right(case, action) for case, (action, _) in zip(cases, decisions, strict=True)
        )
        waits = sum(
            wait_is_right(case, seconds)
            for case, (_, seconds) in zip(cases, decisions, strict=True)
            if case["wait"]["kind"] != "none"
        )
        shares = (actions / len(cases), retries / len(cases), waits / len(stated))
        print(f"| {name} | " + " | ".join(f"{share:.0%}" for share in shares) + " |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    compare([Path(argument) for argument in sys.argv[1:]] or CASES)
