"""Other extensions of Pi, before and after ours: what they decided stands."""

from __future__ import annotations

import pytest
from pi_runs import ALONE, DONE, QUICK, PiHome, broken, cut

BOTH_ORDERS = pytest.mark.parametrize(
    "order", [["other", "ours"], ["ours", "other"]], ids=["before", "after"]
)

REDACTS_FIRST_ANSWER = """
  let done = false;
  pi.on("turn_end", (event) => {
    if (done) return;
    done = true;
    return { entries: [...event.entries, { type: "context_edit", targetId: event.messageEntryId,
      replacement: { content: [{ type: "text", text: "REDACTED" }] } }] };
  });
"""
OMITS_CUT_ANSWERS = """
  pi.on("turn_end", (event) => {
    if (event.message.stopReason !== "length") return;
    const edit = { type: "context_edit", targetId: event.messageEntryId, replacement: null };
    return { entries: [...event.entries, edit] };
  });
"""
CONTINUES_CUT_ANSWERS = OMITS_CUT_ANSWERS.replace("return { entries", "return { continue: true, entries")
NOTES_EACH_TURN = """
  const note = { type: "custom", customType: "note", data: 1 };
  pi.on("turn_end", (event) => ({ entries: [...event.entries, note] }));
"""
RESTORES_AT_THE_NEXT_TURN = """
  let first;
  pi.on("turn_end", (event) => {
    if (!first) { first = event.messageEntryId; return; }
    return { entries: [...event.entries, { type: "context_edit", targetId: first,
      replacement: { content: [{ type: "text", text: "RESTORED" }] } }] };
  });
"""
LEAVES_ARTEFACTS = """
  const message = { customType: "pi-continuity-checkpoint", content: "STALE", display: false };
  pi.on("before_agent_start", () => ({ message }));
"""
THROWS = """
  for (const name of ["turn_end", "agent_before_settle", "context"]) {
    pi.on(name, () => { throw new Error("other"); });
  }
"""


def extensions(home: PiHome, order: list[str], source: str) -> list[object]:
    other = home.extension("other", source)
    return [other if name == "other" else name for name in order]


@BOTH_ORDERS
def test_drafts_of_others_stay_beside_ours(home: PiHome, order: list[str]) -> None:
    printed = home.print([cut(), DONE], extensions=extensions(home, order, NOTES_EACH_TURN))
    assert printed.output.strip() == "done"
    assert len(printed.edits) == 1
    assert len([entry for entry in printed.entries if entry.get("customType") == "note"]) == 2


@BOTH_ORDERS
def test_a_redaction_of_an_answer_that_stays_is_not_undone(home: PiHome, order: list[str]) -> None:
    script = [{"text": "SECRET"}, cut(), DONE]
    loaded = extensions(home, order, REDACTS_FIRST_ANSWER)
    printed = home.print(script, prompts=("One", "Two"), extensions=loaded)
    assert printed.output.strip() == "done"
    assert printed.requests[2].mentions("REDACTED")
    assert not printed.requests[2].mentions("SECRET")


def test_an_answer_that_is_left_out_already_is_not_edited_again(home: PiHome) -> None:
    loaded = extensions(home, ["other", "ours"], OMITS_CUT_ANSWERS)
    printed = home.print([cut(), DONE], extensions=loaded)
    assert (printed.output.strip(), len(printed.edits)) == ("done", 1)


def test_anothers_continuation_comes_first_and_costs_us_nothing(home: PiHome) -> None:
    loaded = extensions(home, ["other", "ours"], CONTINUES_CUT_ANSWERS)
    printed = home.print([cut(), cut("b"), DONE], "--continuity-max-resumes", "1", extensions=loaded)
    assert (printed.output.strip(), len(printed.requests)) == ("done", 3)
    assert len(printed.edits) == 2


def test_two_continuations_make_one_request(home: PiHome) -> None:
    loaded = extensions(home, ["ours", "other"], CONTINUES_CUT_ANSWERS)
    printed = home.print([cut(), DONE], extensions=loaded)
    assert (printed.output.strip(), len(printed.requests)) == ("done", 2)


def test_what_somebody_put_back_is_sent(home: PiHome) -> None:
    loaded = extensions(home, ["ours", "other"], RESTORES_AT_THE_NEXT_TURN)
    printed = home.print([cut("CUT"), DONE, DONE], prompts=("One", "Two"), extensions=loaded)
    assert not printed.requests[1].mentions("CUT")
    assert printed.requests[2].mentions("RESTORED")


@pytest.mark.parametrize("mode", ["on", "off"])
def test_artefacts_of_earlier_versions_are_never_sent(home: PiHome, mode: str) -> None:
    other = home.extension("other", LEAVES_ARTEFACTS)
    assert home.print([DONE], extensions=[other, ALONE]).requests[0].mentions("STALE")
    assert not home.print([DONE], "--continuity", mode, extensions=[other]).requests[0].mentions("STALE")


@BOTH_ORDERS
def test_an_extension_that_throws_takes_nothing_from_us(home: PiHome, order: list[str]) -> None:
    printed = home.print([broken(), DONE], *QUICK, extensions=extensions(home, order, THROWS))
    assert (printed.output.strip(), len(printed.requests)) == ("done", 2)


def test_a_session_that_goes_on_without_us_has_a_clean_projection(home: PiHome) -> None:
    home.print([cut("CUT_PART"), DONE])
    later = home.print([DONE], "-c", prompts=("More",), extensions=[ALONE])
    assert not later.requests[0].mentions("CUT_PART")
    assert later.requests[0].mentions("Finish the task")
    assert any("CUT_PART" in str(entry) for entry in later.entries)


def test_a_session_that_goes_on_with_us_edits_nothing_twice(home: PiHome) -> None:
    first = home.print([cut("CUT_PART"), DONE])
    later = home.print([DONE], "-c", prompts=("More",))
    assert later.edits == first.edits
    assert not later.requests[0].mentions("CUT_PART")
