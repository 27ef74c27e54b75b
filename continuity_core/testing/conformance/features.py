"""What a scenario asks of a host, so that a host can say what it does not have."""

from __future__ import annotations

from enum import StrEnum

from continuity_core.testing.conformance.scenario import ActionKind, Scenario
from continuity_core.testing.fault_server import Cut, HttpResponse, Stop


class Feature(StrEnum):
    """One thing that not every host has or lets others see. The value says what it is."""

    STREAMING = "a streamed model call"
    WHOLE_RESPONSES = "a model call without streaming"
    SEVERAL_PROMPTS = "several user requests in one session"
    TOOLS = "tools"
    UNEXPLAINED_END = "a tool after which the loop just ends"
    END_ON_PURPOSE = "a tool that ends the run on purpose"
    STEER = "steering input while it runs"
    STEER_DURING_WAIT = "steering input while continuity waits"
    FOLLOW_UP = "a follow-up while it runs"
    FOLLOW_UP_DURING_WAIT = "a follow-up while continuity waits"
    DROPPED_INPUT = "input that an abort takes back"
    ABORT = "an abort while a response is produced"
    ABORT_DURING_WAIT = "an abort while continuity waits"
    SWITCH = "recovery switched on or off while it runs"
    NATIVE_RETRIES = "native retries whose number can be set"
    IDLE_TIMEOUT = "an idle timeout that can be set"
    OUTPUT_LIMIT = "an output limit that can be set and compared with the usage"
    LENGTH = "the stop reason length"
    LENGTH_IN_CALL = "a tool call that was cut at the cap"
    LENGTH_AS_RESULT = "an answer cut at the cap that is returned as it is"
    CUT_CALL_AS_RESULT = "an answer with a cut call that is returned as it is"
    NO_FINISH = "a stream without a finish reason"
    REASONING = "reasoning beside the answer"
    EMPTY = "an empty answer"
    CONTENT_FILTER = "a safety stop"
    ERROR_IN_STREAM = "an error inside a stream"
    BROKEN_BODY = "a body that breaks off"


def features_of(scenario: Scenario, stream: bool) -> tuple[Feature, ...]:
    """What the scenario needs when it is played streaming, or not."""
    needed = {Feature.STREAMING if stream else Feature.WHOLE_RESPONSES}
    if len(scenario.prompts) > 1:
        needed.add(Feature.SEVERAL_PROMPTS)
    if scenario.host.native_retries:
        needed.add(Feature.NATIVE_RETRIES)
    if scenario.host.idle_timeout is not None and stream:
        needed.add(Feature.IDLE_TIMEOUT)
    needed |= _of_tools(scenario) | _of_actions(scenario) | _of_responses(scenario, stream)
    needed |= _of_expectation(scenario)
    return tuple(feature for feature in Feature if feature in needed)


def not_applicable(scenario: Scenario, stream: bool) -> str | None:
    """Why the scenario says nothing in this mode, whatever the host can do."""
    if stream:
        return None
    aborted = {
        number
        for number, actions in scenario.actions_at("response").items()
        if any(action.do is ActionKind.ABORT for action in actions)
    }
    for number, response in scenario.model_responses.items():
        if response.needs_streaming:
            return f"response {number} ends without a finish reason, which only a stream does"
        if response.hang and number not in aborted:
            return f"response {number} hangs, and only a stream has an idle timeout"
    return None


def _of_tools(scenario: Scenario) -> set[Feature]:
    ends = {tool.ends_run for tool in scenario.tools}
    needed = {Feature.TOOLS} if ends else set()
    if "unexplained" in ends:
        needed.add(Feature.UNEXPLAINED_END)
    if "on_purpose" in ends:
        needed.add(Feature.END_ON_PURPOSE)
    return needed


def _of_actions(scenario: Scenario) -> set[Feature]:
    needed: set[Feature] = set()
    for action in scenario.actions:
        waits = action.at.during == "wait"
        if action.do in (ActionKind.ON, ActionKind.OFF):
            needed.add(Feature.SWITCH)
        elif action.do is ActionKind.ABORT:
            needed.add(Feature.ABORT_DURING_WAIT if waits else Feature.ABORT)
        elif action.kind == "steer":
            needed.add(Feature.STEER_DURING_WAIT if waits else Feature.STEER)
        else:
            needed.add(Feature.FOLLOW_UP_DURING_WAIT if waits else Feature.FOLLOW_UP)
    return needed


def _of_responses(scenario: Scenario, stream: bool) -> set[Feature]:
    needed: set[Feature] = set()
    for response in scenario.responses:
        if isinstance(response, HttpResponse):
            continue
        if response.reasoning:
            needed.add(Feature.REASONING)
        if response.cut is Cut.NO_FINISH:
            needed.add(Feature.NO_FINISH)
        elif response.cut is not None:
            needed.add(Feature.BROKEN_BODY)
        elif response.sse_error is not None:
            needed |= {Feature.ERROR_IN_STREAM} if stream else set()
        elif not response.hang:
            needed |= _of_ending(response.stop, has_calls=bool(response.tool_calls))
            if not (response.text or "").strip() and not response.tool_calls and response.stop is Stop.STOP:
                needed.add(Feature.EMPTY)
            if response.stop is Stop.LENGTH and response.usage.output is not None:
                needed.add(Feature.OUTPUT_LIMIT)
    return needed


def _of_expectation(scenario: Scenario) -> set[Feature]:
    """A half that is expected as the result, or in a later request, must have been returned before."""
    wanted = {scenario.expect.final.text}
    if not scenario.settings.get("allow_injection"):
        wanted |= {text for request in scenario.expect.request.values() for text in request.has}
    needed: set[Feature] = set()
    for response in scenario.model_responses.values():
        half = response.text or ""
        if response.stop is Stop.LENGTH and any(text and text.strip() and text in half for text in wanted):
            needed |= {Feature.LENGTH_AS_RESULT}
            needed |= {Feature.CUT_CALL_AS_RESULT} if response.tool_calls else set()
    inputs = {action.text for action in scenario.actions if action.do is ActionKind.INPUT}
    is_aborted = any(action.do is ActionKind.ABORT for action in scenario.actions)
    if is_aborted and inputs & {text for one in scenario.expect.request.values() for text in one.lacks}:
        needed.add(Feature.DROPPED_INPUT)
    return needed


def _of_ending(stop: Stop, *, has_calls: bool) -> set[Feature]:
    if stop is Stop.CONTENT_FILTER:
        return {Feature.CONTENT_FILTER}
    if stop is Stop.LENGTH:
        return {Feature.LENGTH, Feature.LENGTH_IN_CALL} if has_calls else {Feature.LENGTH}
    return set()
