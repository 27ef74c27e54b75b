"""What any SDK raises is read by the shape of its attributes."""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import socket
import ssl
import subprocess
import sys
import urllib.error
from email.message import Message
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuity_core.errors import CauseKind, Failure, classify
from continuity_core.model.exceptions import CHAIN_LIMIT, walk
from continuity_core.model.failure import HEADER_LIMIT, TEXT_LIMIT

BODY = {"error": {"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"}}


def response(status: int, body: object, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(
        status, json=body, headers=named, request=httpx2.Request("POST", "https://api.invalid/v1")
    )


def make(name: str, *arguments: object, module: str = "some.sdk", **attributes: Any) -> Exception:
    """An exception of a class of an SDK that is not installed."""
    kind = type(name, (Exception,), {"__module__": module})
    exception: Exception = kind(*arguments)
    for attribute, value in attributes.items():
        setattr(exception, attribute, value)
    return exception


def test_an_openai_error_is_read_with_status_headers_body_and_code() -> None:
    raised = openai.RateLimitError(
        "slow down", response=response(429, BODY, retry_after="7"), body=BODY["error"]
    )
    failure = Failure.from_exception(raised)
    assert failure.status == 429
    assert failure.headers["retry-after"] == "7"
    assert failure.code == "rate_limit_exceeded"
    assert failure.body is not None
    assert "Rate limit reached" in failure.body
    assert failure.exceptions[0].endswith("RateLimitError")
    assert classify(failure).guidance[0].seconds == 7


def test_an_anthropic_error_is_read_from_its_body() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    raised = anthropic.APIStatusError("no detail", response=response(529, body), body=body)
    failure = Failure.from_exception(raised)
    assert failure.status == 529
    assert classify(failure).kind is CauseKind.TRANSIENT


@pytest.mark.parametrize("sdk", [openai, anthropic])
def test_an_sdks_connection_errors_are_transient(sdk: Any) -> None:
    request = httpx2.Request("POST", "https://api.invalid/v1")
    assert (
        classify(Failure.from_exception(sdk.APIConnectionError(request=request))).kind is CauseKind.TRANSIENT
    )
    assert classify(Failure.from_exception(sdk.APITimeoutError(request=request))).kind is CauseKind.TRANSIENT


def test_a_status_error_of_the_http_client_is_read_without_reading_the_network() -> None:
    answer = response(503, {"error": "busy"}, retry_after="2")
    raised = httpx2.HTTPStatusError("503", request=answer.request, response=answer)
    failure = Failure.from_exception(raised)
    assert (failure.status, failure.headers["retry-after"]) == (503, "2")
    streamed = httpx2.Response(503, stream=httpx2.ByteStream(b"x"), request=answer.request)
    unread = httpx2.HTTPStatusError("503", request=answer.request, response=streamed)
    assert Failure.from_exception(unread).body is None


def test_a_botocore_client_error_is_read() -> None:
    raised = make(
        "ThrottlingException",
        "An error occurred (ThrottlingException) when calling the Converse operation: Too many requests",
        module="botocore.errorfactory",
        response={
            "Error": {"Code": "ThrottlingException", "Message": "Too many requests"},
            "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "3"}},
        },
    )
    failure = Failure.from_exception(raised)
    assert (failure.status, failure.code, failure.headers["retry-after"]) == (429, "ThrottlingException", "3")
    assert classify(failure).kind is CauseKind.RATE_LIMIT


def test_a_grpc_error_is_read_by_its_methods() -> None:
    raised = make(
        "AioRpcError",
        module="grpc.aio",
        code=lambda: SimpleNamespace(name="RESOURCE_EXHAUSTED"),
        details=lambda: "Quota exceeded per minute",
        trailing_metadata=lambda: (("retry-after", b"4"), ("x", "y")),
    )
    failure = Failure.from_exception(raised)
    assert failure.code == "RESOURCE_EXHAUSTED"
    assert failure.headers["retry-after"] == "4"
    assert "Quota exceeded" in failure.message
    assert classify(failure).kind is CauseKind.RATE_LIMIT


def test_a_google_genai_error_is_read() -> None:
    details = {"error": {"status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "26s"}]}}
    raised = make(
        "ClientError", "429 RESOURCE_EXHAUSTED", code=429, status="RESOURCE_EXHAUSTED", details=details
    )
    failure = Failure.from_exception(raised)
    assert (failure.status, failure.code) == (429, "RESOURCE_EXHAUSTED")
    assert classify(failure).guidance[0].seconds == 26


def test_an_aiohttp_response_error_is_read() -> None:
    raised = make(
        "ClientResponseError", "503, message='x'", status=503, headers={"Retry-After": "9"}, message="x"
    )
    failure = Failure.from_exception(raised)
    assert (failure.status, failure.headers["retry-after"]) == (503, "9")


def test_a_requests_error_is_read_from_the_content_that_was_read() -> None:
    answer = SimpleNamespace(status_code=429, headers={"Retry-After": "5"}, _content=b'{"error":"slow down"}')
    failure = Failure.from_exception(make("HTTPError", "429 Client Error", response=answer))
    assert (failure.status, failure.body) == (429, '{"error":"slow down"}')


def test_what_urllib3_wraps_in_its_arguments_is_found() -> None:
    inner = make("NewConnectionError", "refused", module="urllib3.exceptions")
    middle = make("MaxRetryError", "Max retries exceeded with url: /v1", reason=inner)
    failure = Failure.from_exception(make("ConnectionError", middle, module="requests.exceptions"))
    assert "urllib3.exceptions.NewConnectionError" in failure.exceptions
    assert classify(failure).kind is CauseKind.TRANSIENT


def test_urllibs_error_is_read() -> None:
    headers = Message()
    headers["Retry-After"] = "6"
    raised = urllib.error.HTTPError("https://api.invalid", 429, "Too Many Requests", headers, None)
    failure = Failure.from_exception(raised)
    raised.close()
    assert (failure.status, failure.headers["retry-after"]) == (429, "6")


@pytest.mark.parametrize(
    "raised",
    [
        ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
        BrokenPipeError(errno.EPIPE, "Broken pipe"),
        TimeoutError(),
        TimeoutError("timed out"),
        ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
        socket.gaierror(-3, "Temporary failure in name resolution"),
        ssl.SSLError(1, "[SSL: SSLV3_ALERT_BAD_RECORD_MAC] sslv3 alert bad record mac"),
        http.client.IncompleteRead(b"x" * 500, 429),
        http.client.RemoteDisconnected("Remote end closed connection without response"),
        httpx2.ReadTimeout(""),
        httpx2.RemoteProtocolError("peer closed connection without sending complete message body"),
        json.JSONDecodeError("Expecting value", "<html>", 0),
    ],
    ids=repr,
)
def test_faults_of_the_transport_are_transient(raised: BaseException) -> None:
    assert classify(Failure.from_exception(raised)).kind is CauseKind.TRANSIENT


def test_an_operating_systems_error_number_is_a_code_and_no_status() -> None:
    failure = Failure.from_exception(OSError(errno.ECONNRESET, "reset"))
    assert (failure.code, failure.status) == ("ECONNRESET", None)


@pytest.mark.parametrize("raised", [asyncio.CancelledError(), KeyboardInterrupt()], ids=repr)
def test_a_callers_own_stop_is_cancelled(raised: BaseException) -> None:
    assert classify(Failure.from_exception(raised)).kind is CauseKind.CANCELLED


def test_a_programs_own_mistake_is_unknown() -> None:
    assert classify(Failure.from_exception(KeyError("choices"))).kind is CauseKind.UNKNOWN


def test_the_cause_of_a_wrapper_is_read() -> None:
    wrapper = RuntimeError("agent failed")
    wrapper.__cause__ = make("Inner", "slow down", status_code=429, headers={"retry-after": "8"}, body=BODY)
    failure = Failure.from_exception(wrapper)
    assert failure.status == 429
    assert failure.message.splitlines() == ["agent failed", "slow down"]
    assert classify(failure).guidance[0].seconds == 8


def test_the_context_counts_unless_it_was_suppressed() -> None:
    outer = RuntimeError("outer")
    outer.__context__ = ConnectionResetError("reset")
    assert len(Failure.from_exception(outer).exceptions) == 2
    outer.__suppress_context__ = True
    assert Failure.from_exception(outer).exceptions == ("RuntimeError",)


def test_the_members_of_a_group_are_read() -> None:
    group = ExceptionGroup(
        "unhandled errors in a TaskGroup", [ValueError("x"), make("APIError", "busy", status_code=503)]
    )
    failure = Failure.from_exception(group)
    assert failure.status == 503
    assert classify(failure).kind is CauseKind.TRANSIENT


def test_a_cycle_of_causes_ends() -> None:
    first, second = RuntimeError("first"), RuntimeError("second")
    first.__cause__, second.__cause__ = second, first
    assert [str(one) for one in walk(first)] == ["first", "second"]


def test_a_long_chain_is_bounded() -> None:
    exception = RuntimeError("0")
    for number in range(100):
        outer = RuntimeError(str(number))
        outer.__cause__ = exception
        exception = outer
    assert len(list(walk(exception))) == CHAIN_LIMIT


class Hostile(Exception):
    """Every attribute that anyone may ask for raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name} here")

    @property
    def status_code(self) -> int:
        raise KeyError("status_code")

    @property
    def headers(self) -> dict[str, str]:
        raise ValueError("headers")

    def __str__(self) -> str:
        raise RuntimeError("no text either")


def test_attributes_that_raise_do_no_harm() -> None:
    failure = Failure.from_exception(Hostile())
    assert failure.message.endswith("Hostile")
    assert classify(failure).kind is CauseKind.UNKNOWN


def fails(*_: object) -> Any:
    raise RuntimeError("not to be read")


UNREADABLE = property(fails)
BAD_TEXT: Any = type("BadText", (str,), dict.fromkeys(["__eq__", "__len__", "__str__", "strip"], fails))
BAD_INT: Any = type("BadInt", (int,), dict.fromkeys(["__eq__", "__int__", "__str__", "__bool__"], fails))
BAD_LIST: Any = type("BadList", (list,), {"__getitem__": fails, "__iter__": fails})
HIDDEN: Any = type("Hidden", (), {"__class__": UNREADABLE, "__str__": fails})
NO_BOOL: Any = type("NoBool", (), {"__bool__": fails})
NO_KIND: Any = type("NoKind", (), {"__class__": 5})


def bad_map(method: str, **items: object) -> Any:
    return type("BadMap", (dict,), {method: fails})(items)


def of_class(base: type[BaseException], *arguments: object, **members: object) -> BaseException:
    exception: BaseException = type("OfClass", (base,), members)(*arguments or ("boom",))
    return exception


@pytest.mark.parametrize(
    "raised",
    [
        make("E", "boom", code=10**5000),
        make("E", "boom", type=10**5000),
        make("E", "boom", body={"number": 10**5000}),
        of_class(Exception, __module__=None),
        of_class(Exception, __module__=UNREADABLE),
        of_class(OSError, errno=UNREADABLE),
        of_class(OSError, errno=NO_BOOL()),
        *(
            make("E", "boom", **{name: bad_map(method, Error=1, a=2)})
            for name in ("response", "body", "headers", "details")
            for method in ("__contains__", "__len__", "get", "items", "__iter__", "__repr__")
        ),
        make("E", "boom", response=bad_map("get", Error={}), module="botocore.exceptions"),
        make("E", "boom", response=SimpleNamespace(status_code=NO_BOOL(), _content=b'{"content":1}')),
        *(
            make("E", "boom", **{name: value})
            for name in ("status_code", "status", "code", "type", "headers", "response", "body", "doc")
            for value in (BAD_TEXT("429"), BAD_INT(429), BAD_INT(7), HIDDEN(), NO_BOOL(), NO_KIND())
        ),
        make("E", "boom", headers=[(BAD_TEXT("retry-after"), BAD_TEXT("5")), HIDDEN()]),
        make("E", "boom", response={"Error": NO_KIND(), "ResponseMetadata": NO_KIND()}),
        make("E", "boom", __notes__=BAD_LIST(["x"])),
        make("E", "boom", __notes__=[HIDDEN(), BAD_TEXT("x")]),
        of_class(Exception, __cause__="text"),
        of_class(Exception, __context__="text"),
        of_class(Exception, __cause__=UNREADABLE, __context__=UNREADABLE),
        of_class(Exception, __suppress_context__=NO_BOOL()),
        of_class(Exception, "boom", HIDDEN()),
        of_class(Exception, args=UNREADABLE),
        of_class(ExceptionGroup, "boom", [Exception("1")], exceptions=None),
        of_class(ExceptionGroup, "boom", [Exception("1")], exceptions=BAD_LIST()),
        pytest.param(of_class(KeyboardInterrupt, __class__=UNREADABLE), id="hidden class"),
    ],
)
def test_what_cannot_be_read_is_absent_and_the_message_is_kept(raised: BaseException) -> None:
    failure = Failure.from_exception(raised)
    assert "boom" in failure.message
    assert failure.exceptions
    classify(failure)


def test_what_stands_beside_something_unreadable_is_read() -> None:
    raised = make(
        "E",
        "boom",
        code=10**5000,
        type="slow_down",
        status_code=NO_BOOL(),
        status=429,
        response=bad_map("__contains__", Error=1),
        headers=[HIDDEN(), ("retry-after", "5")],
        body=bad_map("__len__", a=1),
        details="busy",
    )
    raised.__cause__ = of_class(Exception, "inner", __cause__="text")
    raised.__cause__.__context__ = ValueError("innermost")
    failure = Failure.from_exception(raised)
    assert failure.message.splitlines() == ["boom", "inner", "innermost"]
    assert (failure.status, failure.code, failure.type, failure.body) == (429, None, "slow_down", "busy")
    assert failure.headers == {"retry-after": "5"}


def test_subclasses_of_texts_and_numbers_are_read_without_their_methods() -> None:
    raised = make(
        "E",
        BAD_TEXT("boom"),
        code=BAD_TEXT("too_fast"),
        status=BAD_INT(429),
        headers=[("retry-after", BAD_INT(5)), (BAD_TEXT("ratelimit"), BAD_TEXT("1"))],
        body=BAD_TEXT("busy"),
    )
    failure = Failure.from_exception(raised)
    assert (failure.status, failure.code, failure.body) == (429, "too_fast", "busy")
    assert failure.headers == {"ratelimit": "1", "retry-after": "5"}
    assert {type(value) for value in (failure.code, failure.body, *failure.headers.values())} == {str}


def test_an_interrupt_while_an_attribute_is_read_passes() -> None:
    def interrupted(_: object) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Failure.from_exception(of_class(Exception, code=property(interrupted)))


def test_an_exception_without_text_is_told_by_its_type() -> None:
    assert Failure.from_exception(TimeoutError()).message == "TimeoutError"


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (429, 429),
        ("429", 429),
        (HTTPStatus.BAD_GATEWAY, 502),
        (True, None),
        (42, None),
        ("abc", None),
        (None, None),
    ],
)
def test_a_status_is_a_number_between_100_and_599(value: object, status: int | None) -> None:
    assert Failure.from_exception(make("E", "x", status_code=value)).status == status


def test_notes_are_part_of_the_text() -> None:
    raised = ValueError("x")
    raised.add_note("429 Too Many Requests")
    assert classify(Failure.from_exception(raised)).kind is CauseKind.RATE_LIMIT


def test_a_message_of_a_megabyte_keeps_its_head_and_its_tail() -> None:
    failure = Failure.from_exception(ValueError("HEAD" + "x" * 1_000_000 + "TAIL"))
    assert len(failure.message) <= TEXT_LIMIT
    assert failure.message.startswith("HEAD")
    text = Failure.from_text("HEAD" + "x" * 1_000_000 + "TAIL", body="HEAD" + "y" * 1_000_000 + "TAIL")
    assert text.message.endswith("TAIL")
    assert text.body is not None
    assert len(text.body) <= TEXT_LIMIT


def test_the_number_of_headers_is_bounded() -> None:
    headers = {f"x-ratelimit-{number}": "1" * 1000 for number in range(500)}
    failure = Failure.from_text("x", headers=headers)
    assert len(failure.headers) == HEADER_LIMIT
    assert max(map(len, failure.headers.values())) <= 256


def test_the_place_is_what_the_boundary_says() -> None:
    assert Failure.from_exception(ValueError("x"), where="tool").where == "tool"
    assert Failure.from_exception(ValueError("x")).where == "model"


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "status_code",
                "status",
                "code",
                "type",
                "body",
                "headers",
                "response",
                "details",
                "reason",
                "args",
            ]
        ),
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=20)
        | st.binary(max_size=20)
        | st.lists(st.integers(), max_size=3),
    )
)
def test_whatever_stands_in_an_attribute_nothing_is_raised(attributes: dict[str, Any]) -> None:
    arguments = attributes.pop("args", None)
    exception = make("AnyError", arguments, **attributes)
    classify(Failure.from_exception(exception))


def test_no_sdk_is_imported_for_reading() -> None:
    program = """
import sys
from continuity_core.errors import Failure, classify
classify(Failure.from_exception(OSError(104, "x")))
sdks = {"openai", "anthropic", "httpx", "httpx2", "requests", "botocore", "grpc", "google", "aiohttp", "re2"}
sys.exit(str(sorted(sdks & set(sys.modules))) if sdks & set(sys.modules) else 0)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
