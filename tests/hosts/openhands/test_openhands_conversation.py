"""The object around the conversation."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from openhands.sdk import LLM
from openhands.sdk.conversation import get_agent_final_response
from openhands.sdk.conversation.exceptions import ConversationRunError

from continuity_core import Continuity, Halt, Omit, RunError, hookimpl
from continuity_core.hosts.openhands import ContinuityConversation
from continuity_core.testing.conformance.host import PlayedTool

pytestmark = pytest.mark.anyio

CUT = {"text": "half of the ans", "stop": "length"}
DONE = {"text": "done"}
Finish = Callable[[Any], Awaitable[None]]


async def test_it_is_the_conversation_but_for_what_it_adds(world: Any) -> None:
    plain = world.plain()
    conversation = ContinuityConversation(plain, continuity=world.load())
    assert conversation.id == plain.id
    assert conversation.state is plain.state
    conversation.max_iteration_per_run = 7
    assert plain.max_iteration_per_run == 7
    assert conversation.report is None
    assert conversation.continuity_run is None
    with pytest.raises(AttributeError):
        _ = conversation.nothing_of_this_name


async def test_settings_or_plugins_are_given_to_one_place(world: Any) -> None:
    plain = world.plain()
    made = ContinuityConversation(plain, settings={"max_resumes": 3})
    assert made.continuity.settings.max_resumes == 3
    with pytest.raises(ValueError, match=r"Continuity\.load"):
        ContinuityConversation(plain, settings={}, continuity=made.continuity)
    with pytest.raises(ValueError, match="several names"):
        ContinuityConversation(plain, continuity=made.continuity, ending_tools="submit")


async def test_a_conversation_whose_loop_runs_elsewhere_is_refused(world: Any) -> None:
    with pytest.raises(TypeError, match="LocalConversation"):
        ContinuityConversation(object(), continuity=world.load())

    class Elsewhere(type(world.agent())):  # type: ignore[misc]
        @property
        def agent_kind(self) -> str:
            return "acp"

    plain = world.plain()
    plain.agent = Elsewhere(llm=world.llm(), tools=[])
    with pytest.raises(TypeError, match="ACP agent"):
        ContinuityConversation(plain, continuity=world.load())


async def test_without_the_framework_one_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("continuity_core.hosts.openhands")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "openhands.sdk", None)
    with pytest.raises(ImportError, match=r"pip install 'continuity-core\[openhands\]'"):
        importlib.import_module("continuity_core.hosts.openhands")


async def test_after_a_run_the_conversation_is_as_before(world: Any, finish: Finish) -> None:
    world.play(CUT, DONE, CUT)
    conversation = world.conversation()
    conversation.send_message("go")
    agent = conversation.conversation.agent
    await finish(conversation)
    assert conversation.conversation.agent is agent
    assert conversation.state.agent is agent
    conversation.conversation.send_message("and alone?")
    await finish(conversation.conversation)
    assert get_agent_final_response(conversation.state.events) == "half of the ans"


async def test_while_it_runs_the_agent_is_taken_for_what_it_is(world: Any, finish: Finish) -> None:
    seen: list[Any] = []

    class Looking(PlayedTool):
        def run(self, **arguments: Any) -> str:
            agent = conversation.conversation.agent
            seen.append((isinstance(agent, type(world.agent())), type(agent.llm) is LLM, agent.kind))
            return "seen"

    world.play({"tool_calls": [{"name": "look"}]}, DONE)
    conversation = world.conversation(tools=[Looking(name="look", result="")])
    conversation.send_message("go")
    await finish(conversation)
    assert seen == [(True, True, "Agent")]


async def test_a_model_that_a_tool_switches_to_is_kept_alive_too(world: Any, finish: Finish) -> None:
    class Switching(PlayedTool):
        def run(self, **arguments: Any) -> str:
            conversation.switch_llm(
                world.llm().model_copy(update={"usage_id": "other", "max_output_tokens": 77})
            )
            return "switched"

    world.play({"tool_calls": [{"name": "switch"}]}, CUT, DONE)
    conversation = world.conversation(tools=[Switching(name="switch", result="")])
    conversation.send_message("go")
    await finish(conversation)
    assert [request.decoded.output_limit for request in world.requests] == [64, 77, 77]
    assert conversation.report.resumes == 1
    assert conversation.state.agent.llm.usage_id == "other"
    assert type(conversation.state.agent) is type(world.agent())


async def test_a_second_run_at_the_same_time_is_an_error(world: Any) -> None:
    conversation = world.conversation()
    conversation.send_message("go")
    with conversation.continuity.start_run(str(conversation.id)), pytest.raises(RunError, match="going on"):
        await conversation.arun()


async def test_observed_the_log_and_the_requests_are_as_without_us(world: Any, finish: Finish) -> None:
    broken = {"http": 503, "body": {"error": {"message": "overloaded"}}}
    step = PlayedTool(name="step", result="R")
    script = [{"tool_calls": [{"name": "step", "arguments": "{}"}], "stop": "length"}, broken]
    found = []
    for make in (world.plain, lambda **more: world.conversation({"mode": "observe"}, **more)):
        world.play(*script)
        conversation = make(tools=[step])
        conversation.send_message("go")
        with pytest.raises(ConversationRunError):
            await finish(conversation)
        found.append((world.kinds(conversation), len(world.requests), conversation.state.agent_state))
    assert found[0] == found[1]
    assert step.times_run == 2


async def test_other_content_that_a_plugin_wants_shown_is_shown(world: Any, finish: Finish) -> None:
    from continuity_core import Replace

    class Shortening:
        name = "shortening"

        @hookimpl
        def continuity_project(self, projection: Any, proposal: Any) -> Any:
            return [
                Replace(one.ref, "SHORT", "less is more") for one in projection.entries if one.role == "tool"
            ]

    world.play({"tool_calls": [{"name": "step"}]}, DONE)
    continuity = Continuity.from_settings(plugins=[Shortening()], clock=world.clock)
    conversation = world.conversation(
        continuity=continuity, tools=[PlayedTool(name="step", result="LONG " * 9)]
    )
    conversation.send_message("go")
    await finish(conversation)
    assert world.requests[1].mentions("SHORT")
    assert not world.requests[1].mentions("LONG")
    assert conversation.state.events[-2].observation.text == "LONG " * 9


async def test_an_earlier_turn_that_a_resume_leaves_out_is_left_out_for_good(
    world: Any, finish: Finish
) -> None:
    from continuity_core import Resume

    class Forgetting:
        """Leaves the turn with the tool out when an answer comes after it."""

        name = "forgetting"

        @hookimpl
        def continuity_turn_ended(self, boundary: Any, proposal: Any) -> Any:
            if boundary.run.resumes or boundary.turn.tool_calls:
                return None
            known = [ref for ref in seen if boundary.host.knows(ref)]
            return [Resume("once more"), *(Omit(ref, "old") for ref in (*known, boundary.turn.entry))]

        @hookimpl
        def continuity_project(self, projection: Any, proposal: Any) -> None:
            seen.extend(one.ref for one in projection.entries if one.calls or one.answers)

    seen: list[Any] = []
    world.play({"tool_calls": [{"name": "step"}]}, {"text": "first"}, DONE)
    continuity = Continuity.from_settings(plugins=[Forgetting()], clock=world.clock)
    conversation = world.conversation(continuity=continuity, tools=[PlayedTool(name="step", result="RESULT")])
    conversation.send_message("go")
    await finish(conversation)
    assert len(world.requests) == 3
    assert world.requests[1].mentions("RESULT")
    assert not world.requests[2].mentions("RESULT")


async def test_a_plugin_that_halts_leaves_the_framework_s_result(world: Any, finish: Finish) -> None:
    class Halting:
        name = "halting"

        @hookimpl
        def continuity_turn_ended(self, boundary: Any, proposal: Any) -> Any:
            return Halt("enough", end_run=True)

    world.play(CUT)
    continuity = Continuity.from_settings(plugins=[Halting()], clock=world.clock)
    conversation = world.conversation(continuity=continuity)
    conversation.send_message("go")
    await finish(conversation)
    assert get_agent_final_response(conversation.state.events) == "half of the ans"


async def test_what_cannot_be_read_harms_nobody(
    world: Any, finish: Finish, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from continuity_core.hosts.openhands import calls

    def fail(response: Any) -> Any:
        raise LookupError("a form that nobody knows")

    monkeypatch.setattr(calls, "read_response", fail)
    world.play(CUT)
    conversation = world.conversation()
    conversation.send_message("go")
    await finish(conversation)
    assert get_agent_final_response(conversation.state.events) == "half of the ans"
    assert "cannot be read" in caplog.text
