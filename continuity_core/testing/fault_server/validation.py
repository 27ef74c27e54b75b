"""The checks that every provider makes on a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from continuity_core.testing.fault_server.requests import ReceivedMessage


def conversation_problems(messages: Sequence[ReceivedMessage]) -> tuple[str, ...]:
    """Why a provider would refuse the conversation.

    There must be a message besides the system's; an assistant message carries text or calls; every call is
    answered, once and before anything else is said; every result answers such a call; the last message is
    not the assistant's.
    """
    if all(message.role == "system" for message in messages):
        return ("there are no messages but the system's",)
    problems: list[str] = []
    unanswered: dict[str, str] = {}

    def nothing_may_be_unanswered(where: str) -> None:
        for call_id, name in unanswered.items():
            problems.append(f"unanswered call: {name} ({call_id}) has no result before {where}")
        unanswered.clear()

    for number, message in enumerate(messages, start=1):
        problems += [
            f"orphan tool result: message {number} answers {result.call_id!r}, which is no open call"
            for result in message.results
            if unanswered.pop(result.call_id, None) is None
        ]
        carries_only_results = bool(message.results) and not message.texts and not message.has_other_content
        if not carries_only_results:
            nothing_may_be_unanswered(f"message {number}")
        if message.role == "assistant":
            if not message.text.strip() and not message.calls and not message.has_other_content:
                problems.append(f"empty assistant: message {number} has neither text nor a call")
            for call in message.calls:
                unanswered[call.id] = call.name
    nothing_may_be_unanswered("the end")
    if messages[-1].role == "assistant":
        problems.append("assistant last: the conversation ends with an assistant message")
    return tuple(problems)
