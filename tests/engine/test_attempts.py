"""The plain loop: attempts at one model turn, over plain dicts, asynchronous and not."""

# ruff: noqa: PT012 -- the loop itself is what raises

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import Any

import anyio
import pytest
from runs import KindReader, answer, bundled, cut, failed, make, play, ref
from saying import Saying, saying

from continuity_core import (
    Adjust,
    Attempt,
    AttemptError,
    CauseKind,
    Continuity,
    HostFacts,
    Mode,
    Omit,
    Outcome,
    Resume,
    RunOutcome,
    StopReason,
    Turn,
    Wait,
)
from continuity_core.testing.clocks import VirtualClock

pytestmark = pytest.mark.anyio

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Finish the task"}]


class ProviderError(Exception):
    """As an SDK raises it."""

    def __init__(self, message: str = "Internal server error", status_code: int = 503) -> None:
        super().__init__(message)
        self.status_code = status_code


def chat(content: str | None = "done", finish: str = "stop", calls: tuple[str, ...] = ()) -> dict[str, Any]:
    """A chat completion as plain JSON."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": f"id-{name}", "type": "function", "function": {"name": name, "arguments": "{}"}}
            for name in calls
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5},
    }


def message(text: str = "done", stop: str = "end_turn") -> dict[str, Any]:
    """An Anthropic message as plain JSON."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop,
        "usage": {"input_tokens": 9, "output_tokens": 5},
    }


def chunk(content: str = "", finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice]}


class Model:
    """Brings one scripted thing a call: a response, or an exception that it raises."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.requests: list[list[Any]] = []

    def __call__(self, messages: list[Any]) -> Any:
        self.requests.append(messages)
        brought = self.script.pop(0)
        if isinstance(brought, BaseException):
            raise brought
        return brought

    async def stream(self, messages: list[Any]) -> AsyncGenerator[Any]:
        for piece in self(messages):
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def stream_sync(self, messages: list[Any]) -> Iterator[Any]:
        for piece in self(messages):
            if isinstance(piece, Exception):
                raise piece
            yield piece


@pytest.fixture(params=["asynchronous", "synchronous"])
def ask(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs the plain loop in both ways; gives back the run and the attempts that were made."""

    async def asynchronous(continuity: Continuity, model: Model, made: list[Attempt], **facts: Any) -> Any:
        run = continuity.start_run()
        async for attempt in run.attempts(MESSAGES, HostFacts(**facts)):
            made.append(attempt)
            with attempt:
                attempt.ended(model(attempt.messages))
        return run

    async def synchronous(continuity: Continuity, model: Model, made: list[Attempt], **facts: Any) -> Any:
        run = continuity.start_sync_run()
        for attempt in run.attempts(MESSAGES, HostFacts(**facts)):
            made.append(attempt)
            with attempt:
                attempt.ended(model(attempt.messages))
        return run

    return {"asynchronous": asynchronous, "synchronous": synchronous}[request.param]


def recovering(**settings: Any) -> Continuity:
    """The bundled plugins with the reader of real errors."""
    from continuity_plugins.provider_errors import ProviderErrors

    plugins = [plugin for plugin in bundled() if not isinstance(plugin, KindReader)]
    return make([ProviderErrors(), *plugins], **settings)


async def test_a_good_answer_takes_one_attempt(ask: Callable[..., Any]) -> None:
    made: list[Attempt] = []
    run = await ask(recovering(), Model(chat()), made)
    assert [attempt.number for attempt in made] == [1]
    assert made[0].turn is not None
    assert made[0].turn.text == "done"
    assert made[0].result == chat()
    assert made[0].adjust is None
    assert run.settled().outcome is RunOutcome.COMPLETED


@pytest.mark.parametrize("whole", [chat(), message(), answer()], ids=["chat", "message", "turn"])
async def test_a_cut_answer_is_asked_for_again_in_each_format(ask: Callable[..., Any], whole: Any) -> None:
    first = (
        chat("half an", "length")
        if isinstance(whole, dict) and "choices" in whole
        else message("h", "max_tokens")
    )
    made: list[Attempt] = []
    model = Model(first if isinstance(whole, dict) else cut(), whole)
    await ask(recovering(), model, made)
    assert [attempt.number for attempt in made] == [1, 2]
    assert model.requests == [MESSAGES, MESSAGES]


async def test_an_exception_of_the_provider_is_a_failed_turn_and_asked_for_again_after_the_delay(
    ask: Callable[..., Any],
) -> None:
    made: list[Attempt] = []
    error = ProviderError()
    run = await ask(recovering(), Model(error, chat()), made)
    assert made[0].error is error
    assert made[0].turn is not None
    assert made[0].turn.failure is not None
    assert made[0].turn.failure.status == 503
    assert made[0].result is None
    assert made[1].error is None
    assert run.state.held == 5


async def test_when_the_budget_is_spent_the_original_exception_object_is_raised(
    ask: Callable[..., Any],
) -> None:
    errors = [ProviderError(str(number)) for number in range(9)]
    made: list[Attempt] = []
    with pytest.raises(ProviderError) as raised:
        await ask(recovering(max_resumes=2), Model(*errors), made)
    assert raised.value is errors[2]
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert len(made) == 3


async def test_a_permanent_failure_is_raised_at_once(ask: Callable[..., Any]) -> None:
    error = ProviderError("Incorrect API key provided", 401)
    made: list[Attempt] = []
    with pytest.raises(ProviderError) as raised:
        await ask(recovering(), Model(error), made)
    assert raised.value is error


async def test_a_cut_answer_is_handed_out_when_the_budget_is_spent(ask: Callable[..., Any]) -> None:
    made: list[Attempt] = []
    run = await ask(recovering(max_resumes=1), Model(chat("a", "length"), chat("ab", "length")), made)
    assert made[-1].turn is not None
    assert made[-1].turn.text == "ab"
    assert run.settled().outcome is RunOutcome.INCOMPLETE


MISTAKES = [
    TypeError("unexpected keyword"),
    KeyError("model"),
    IndexError("list index"),
    AttributeError("no attribute"),
    NameError("client"),
    AssertionError("mine"),
    ImportError("openai"),
    NotImplementedError("later"),
]


@pytest.mark.parametrize("error", MISTAKES, ids=lambda error: type(error).__name__)
async def test_a_mistake_in_the_callers_own_code_is_raised_at_once(
    ask: Callable[..., Any], error: Exception
) -> None:
    made: list[Attempt] = []
    with pytest.raises(type(error)) as raised:
        await ask(recovering(), Model(error), made)
    assert raised.value is error
    assert len(made) == 1
    assert made[0].error is None


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(2), GeneratorExit()])
async def test_what_ends_the_process_is_raised_at_once(ask: Callable[..., Any], error: BaseException) -> None:
    made: list[Attempt] = []
    with pytest.raises(type(error)):
        await ask(recovering(), Model(error), made)
    assert len(made) == 1


async def test_what_is_raised_after_the_call_ended_is_the_callers_and_costs_no_attempt() -> None:
    run = recovering().start_run()
    attempts = []
    with pytest.raises(ProviderError):
        async for attempt in run.attempts(MESSAGES):
            attempts.append(attempt)
            with attempt:
                attempt.ended(chat("half", "length"))
                raise ProviderError("while the answer was shown")
    assert len(attempts) == 1
    assert attempts[0].error is None


async def test_a_response_that_nobody_can_read_is_a_mistake() -> None:
    run = recovering().start_run()
    with pytest.raises(TypeError, match="neither a chat completion nor an Anthropic message"):
        async for attempt in run.attempts(MESSAGES):
            with attempt:
                attempt.ended(7)


async def test_a_proxys_page_in_place_of_a_response_is_a_failed_turn() -> None:
    run, model = recovering().start_run(), Model("<html>502 Bad Gateway</html>", chat())
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            attempt.ended(model(attempt.messages))
    assert len(model.requests) == 2


async def test_forgetting_to_say_what_came_is_named() -> None:
    run = recovering().start_run()
    with pytest.raises(AttemptError, match=r"call attempt.ended\(response\)"):
        async for attempt in run.attempts(MESSAGES):
            with attempt:
                pass


async def test_forgetting_the_context_manager_is_named() -> None:
    run = recovering().start_run()
    with pytest.raises(AttemptError, match="use `with attempt:`"):
        async for _ in run.attempts(MESSAGES):
            pass
    with pytest.raises(AttemptError, match="use `with attempt:`"):
        for _ in recovering().start_sync_run().attempts(MESSAGES):
            pass


async def test_leaving_the_loop_early_decides_nothing_and_the_run_stays_usable() -> None:
    run = recovering().start_run()
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            attempt.ended(chat("good enough", "length"))
        break
    assert run.state.turns == 0
    model = Model(chat())
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            attempt.ended(model(attempt.messages))
    assert run.state.turns == 1


async def test_attempts_that_are_over_stay_over() -> None:
    run = recovering().start_run()
    attempts = run.attempts(MESSAGES)
    async for attempt in attempts:
        with attempt:
            attempt.ended(chat())
    with pytest.raises(StopAsyncIteration):
        await anext(attempts)
    assert run.state.turns == 1
    alone = recovering().start_sync_run()
    made = alone.attempts(MESSAGES)
    for attempt in made:
        with attempt:
            attempt.ended(chat())
    assert list(made) == []
    assert alone.state.turns == 1


async def test_after_the_exception_was_raised_nothing_more_comes() -> None:
    attempts = recovering(max_resumes=0).start_run().attempts(MESSAGES)
    with pytest.raises(ProviderError):
        async for attempt in attempts:
            with attempt:
                raise ProviderError
    with pytest.raises(StopAsyncIteration):
        await anext(attempts)


# ---------------------------------------------------------------- streams


async def test_a_stream_is_passed_on_piece_by_piece_and_read_on_the_way() -> None:
    run, shown = recovering().start_run(), []
    model = Model([chunk("half", "length")], [chunk("do"), chunk("ne"), chunk("", "stop")])
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            shown += [piece async for piece in attempt.stream(model.stream(attempt.messages))]
    assert [piece["choices"][0]["delta"]["content"] for piece in shown] == ["half", "do", "ne", ""]
    assert attempt.number == 2
    assert attempt.turn is not None
    assert attempt.turn.text == "done"


async def test_a_stream_that_breaks_keeps_its_partial_as_the_failed_turn() -> None:
    run, model = (
        recovering().start_run(),
        Model([chunk("ha"), ConnectionResetError("reset")], [chunk("ok", "stop")]),
    )
    attempts = []
    async for attempt in run.attempts(MESSAGES):
        attempts.append(attempt)
        with attempt:
            async for _ in attempt.stream(model.stream(attempt.messages)):
                pass
    assert len(attempts) == 2
    assert attempts[0].turn is not None
    assert (attempts[0].turn.text, attempts[0].turn.stop_reason) == ("ha", StopReason.ERROR)
    assert isinstance(attempts[0].error, ConnectionResetError)


async def test_a_stream_that_ends_without_a_finish_reason_is_a_failed_turn() -> None:
    run, model = recovering().start_run(), Model([chunk("ha")], [chunk("ok", "stop")])
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            async for _ in attempt.stream(model.stream(attempt.messages)):
                pass
    assert len(model.requests) == 2
    assert run.report().cause is CauseKind.FINAL


async def test_a_stream_that_the_caller_does_not_read_to_its_end_is_named() -> None:
    run, model = recovering().start_run(), Model([chunk("a"), chunk("b", "stop")])
    with pytest.raises(AttemptError, match="read a streamed response to its end"):
        async for attempt in run.attempts(MESSAGES):
            with attempt:
                async with (
                    aclosing(model.stream(attempt.messages)) as stream,
                    aclosing(attempt.stream(stream)) as read,
                ):
                    await anext(read)


def test_a_synchronous_stream_is_read_in_the_same_way() -> None:
    run = recovering().start_sync_run()
    model = Model(
        [chunk("ha"), ConnectionResetError("reset")], [chunk("ha", "length")], [chunk("ok", "stop")]
    )
    for attempt in run.attempts(MESSAGES):
        with attempt:
            for _ in attempt.stream_sync(model.stream_sync(attempt.messages)):
                pass
    assert len(model.requests) == 3
    assert attempt.turn is not None
    assert attempt.turn.text == "ok"


# ---------------------------------------------------------------- the caller's own loop around it


async def test_a_tool_loop_of_the_callers_goes_around_the_attempts() -> None:
    run = recovering().start_run()
    messages: list[Any] = copy.deepcopy(MESSAGES)
    model = Model(
        chat(None, "tool_calls", ("look_up",)),
        ProviderError(),
        chat(None, "length", ("look_up",)),
        chat("it is 42"),
    )
    tools_run = []
    while True:
        async for attempt in run.attempts(messages):
            with attempt:
                attempt.ended(model(attempt.messages))
        assert attempt.turn is not None
        messages.append(attempt.result["choices"][0]["message"])
        if not attempt.turn.executable_calls:
            break
        for call in attempt.turn.executable_calls:
            tools_run.append(call.name)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "42"})
    assert tools_run == ["look_up"]
    assert [len(request) for request in model.requests] == [2, 4, 4, 4]
    assert run.settled().outcome is RunOutcome.COMPLETED


async def test_messages_are_never_changed_and_what_is_broken_is_not_sent() -> None:
    run = recovering().start_run()
    messages: list[Any] = [
        *MESSAGES,
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
        {"role": "user", "content": "and now?"},
    ]
    before, model = copy.deepcopy(messages), Model(chat("half", "length"), chat())
    async for attempt in run.attempts(messages):
        assert attempt.messages is not messages
        with attempt:
            attempt.ended(model(attempt.messages))
    assert messages == before
    assert model.requests == [[*MESSAGES, messages[-1]]] * 2
    assert model.requests[0][0] is messages[0]


async def test_messages_that_the_caller_adds_between_attempts_are_sent() -> None:
    run, messages = recovering().start_run(), list(MESSAGES)
    model = Model(chat("half", "length"), chat())
    async for attempt in run.attempts(messages):
        with attempt:
            attempt.ended(model(attempt.messages))
        messages.append({"role": "user", "content": "shorter"})
    assert [len(request) for request in model.requests] == [2, 3]


async def test_what_an_attempt_is_to_change_in_the_request_is_shown_for_that_attempt_only() -> None:
    said = iter(
        [[Resume("again"), Adjust(max_output_tokens=50, reasoning_effort="low")], [Resume("again")], None]
    )
    run = make([KindReader(), Saying("sayer", lambda *_: next(said, None))]).start_run()
    seen = []
    model = Model(cut("a"), cut("b"), answer())
    async for attempt in run.attempts(MESSAGES):
        seen.append(attempt.adjust)
        with attempt:
            attempt.ended(model(attempt.messages))
    assert seen == [None, Adjust(max_output_tokens=50, reasoning_effort="low"), None]


async def test_a_partial_is_shown_to_the_model_where_that_is_allowed() -> None:
    run = recovering(allow_injection=("partial-checkpoint",)).start_run()
    model = Model(chat("half an ans", "length"), chat())
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            attempt.ended(model(attempt.messages))
    assert model.requests[1][:2] == MESSAGES
    assert model.requests[1][2]["role"] == "user"
    assert '"half an ans"' in model.requests[1][2]["content"]


async def test_the_hosts_facts_count() -> None:
    made: list[Any] = []
    run = recovering().start_run()
    async for attempt in run.attempts(MESSAGES, HostFacts(pending_input="steer")):
        made.append(attempt)
        with attempt:
            attempt.ended(chat("half", "length"))
    assert len(made) == 1


# ---------------------------------------------------------------- ends


async def test_an_abort_during_a_wait_ends_the_loop_with_the_callers_own_error() -> None:
    run = make([*bundled()], clock=VirtualClock(auto_advance=False)).start_run()
    error, raised = ProviderError("Service Unavailable"), []

    async def loop() -> None:
        try:
            async for attempt in run.attempts(MESSAGES):
                with attempt:
                    raise error
        except ProviderError as caught:
            raised.append(caught)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(loop)
            await anyio.wait_all_tasks_blocked()
            assert run.status()["waiting"]
            run.abort()
    assert raised == [error]
    assert run.report().outcome is RunOutcome.ABORTED


async def test_an_abort_while_the_model_answers_hands_out_what_came() -> None:
    run = recovering().start_run()
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            run.abort()
            attempt.ended(chat("half", "length"))
    assert attempt.number == 1
    assert attempt.turn is not None
    assert attempt.turn.text == "half"


async def test_a_run_that_is_over_makes_no_attempt(ask: Callable[..., Any]) -> None:
    run = recovering().start_run()
    run.abort()
    assert [attempt async for attempt in run.attempts(MESSAGES)] == []
    alone = recovering().start_sync_run()
    alone.settled()
    assert list(alone.attempts(MESSAGES)) == []


async def test_calls_that_may_run_are_left_to_the_caller_even_where_a_plugin_would_go_on() -> None:
    run = make([KindReader(), saying(Omit(ref("nobody-knows"), "w"), name="sayer")]).start_run()
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            attempt.ended(chat(None, "tool_calls", ("look_up",)))
    assert attempt.number == 1
    assert run.state.turns == 1


async def test_a_plugin_that_ends_the_run_ends_the_loop() -> None:
    continuity = make(bundled(run_limits={"max_requests": 1}))
    run = continuity.start_run()
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            attempt.ended(cut())
    assert attempt.number == 1


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.OFF])
async def test_without_recovery_the_loop_is_one_plain_call(ask: Callable[..., Any], mode: Mode) -> None:
    made: list[Attempt] = []
    await ask(recovering(mode=mode), Model(chat("half", "length")), made)
    assert len(made) == 1
    error = ProviderError()
    with pytest.raises(ProviderError) as raised:
        await ask(recovering(mode=mode), Model(error), made)
    assert raised.value is error


async def test_an_unfinished_turn_belongs_to_the_caller() -> None:
    run = recovering().start_run()
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            attempt.ended(Turn(stop_reason=StopReason.STOP, unfinished=True))
    assert attempt.number == 1


async def test_attempts_decide_as_a_host_does_that_asks_for_each_boundary() -> None:
    turns = [cut(), failed(), answer(""), failed(CauseKind.UNKNOWN), answer()]
    by_hand = make().start_run()
    await play(by_hand, turns)
    run, model = make().start_run(), Model(*turns)
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            attempt.ended(model(attempt.messages))
    assert run.state.spent == by_hand.state.spent
    assert [wait.seconds for wait in run.report().waits] == [wait.seconds for wait in by_hand.report().waits]
    assert run.report().events[-1].data["outcome"] == Outcome.NONE


async def test_a_wait_before_an_attempt_is_held() -> None:
    run = make(
        [KindReader(), saying(Resume("again"), Wait(seconds=7, why="rest"))], max_resumes=1
    ).start_run()
    async for attempt in run.attempts(MESSAGES):
        with attempt:
            attempt.ended(cut())
    assert run.state.held == 7
