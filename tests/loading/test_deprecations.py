"""What of the hook specification will go, and who is told."""

from __future__ import annotations

import logging

import pytest

from continuity_core import SPEC_VERSION, Boundary, Continuity, Event, hookimpl
from continuity_core.loading import compatibility, declaration_checks
from continuity_core.loading.compatibility import DEPRECATIONS, Deprecation
from continuity_core.loading.hook_checks import HOOKS


class Old:
    weight = 3

    @hookimpl
    def continuity_before_settle(self, boundary: Boundary) -> None: ...

    @hookimpl
    def continuity_observe(self, event: Event) -> None: ...


def deprecated(what: str) -> Deprecation:
    return Deprecation(what=what, since=(0, 1), until=(0, 3), mend="Use something else.")


def test_what_goes_was_announced_before_and_is_in_the_specification() -> None:
    for each in DEPRECATIONS:
        hook, _, parameter = each.what.partition(".")
        assert each.since <= SPEC_VERSION < each.until
        assert not parameter or parameter in HOOKS[hook]


@pytest.mark.parametrize("what", ["continuity_before_settle", "continuity_observe.event", "weight"])
def test_a_plugin_that_uses_what_is_deprecated_is_named_with_the_horizon(
    what: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compatibility, "DEPRECATIONS", (deprecated(what),))
    with caplog.at_level(logging.WARNING, logger="continuity"):
        loaded = Continuity.from_settings({"only": []}, plugins=[Old()])
    [message] = [record.getMessage() for record in caplog.records if '"old"' in record.getMessage()]
    assert message == (
        f'plugin "old" (code) uses {what}, deprecated since hook specification 0.1 and gone in 0.3 '
        "(this is 0.1). Its author: Use something else. You: upgrade it once that is done"
    )
    assert "old" in loaded.plugins


@pytest.mark.parametrize("what", ["continuity_project", "continuity_observe.run", "height"])
def test_a_plugin_that_does_not_use_it_is_not_named(
    what: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compatibility, "DEPRECATIONS", (deprecated(what),))
    with caplog.at_level(logging.WARNING, logger="continuity"):
        Continuity.from_settings({"only": []}, plugins=[Old()])
    assert '"old"' not in caplog.text


@pytest.mark.parametrize(
    ("version", "taken"), [((0, 1), True), ((0, 2), True), ((0, 3), True), ((0, 0), False), ((0, 4), False)]
)
def test_plugins_for_every_supported_specification_are_taken(
    version: tuple[int, int], taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declaration_checks, "SPEC_VERSION", (0, 3))

    class Pinned(Old):
        spec_version = version

    if taken:
        assert "pinned" in Continuity.from_settings({"only": []}, plugins=[Pinned()]).plugins
    else:
        with pytest.raises(ValueError, match="hook specification"):
            Continuity.from_settings({"only": []}, plugins=[Pinned()])
