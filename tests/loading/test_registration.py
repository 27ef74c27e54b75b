"""What is refused at registration, in the words that a plugin's author sees."""

from __future__ import annotations

import functools
import types
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pluggy
import pytest

from continuity_core import (
    SPEC_VERSION,
    Boundary,
    Budget,
    Order,
    Proposal,
    Resume,
    Stage,
    Window,
    hookimpl,
    hookspecs,
)
from continuity_core.loading.errors import PluginError
from continuity_core.loading.registration import hooks_of, new_manager, register

other_project = pluggy.HookimplMarker("pytest")


class Observer:
    @hookimpl
    def continuity_observe(self, event: object) -> None: ...


class CallableObject:
    def __call__(self, boundary: Boundary) -> None: ...


def refusal(plugin: object, name: str = "my-plugin") -> str:
    """The message with which ``plugin`` is refused; nothing of it must stay behind."""
    manager = new_manager()
    with pytest.raises(PluginError) as caught:
        register(manager, plugin, name=name, distribution="my-dist", version="1.2")
    assert manager.list_name_plugin() == []
    assert hooks_of(manager, plugin) == ()
    return str(caught.value)


def test_a_plugin_that_fits_is_registered_with_what_it_declares() -> None:
    class Plugin:
        order = Order(stage=Stage.GUARD, runs_after=("run-limits",))
        budgets = (Budget("tries", 3), Budget("hard_tries", 1, within="tries"))
        edits_user_input = True
        spec_version = SPEC_VERSION

        @hookimpl
        def continuity_turn_ended(self, boundary: Boundary) -> Iterator[Resume]:
            yield Resume("again")

        @hookimpl(specname="continuity_observe")
        def note(self, event: object) -> None: ...

        @classmethod
        @hookimpl
        def continuity_project(cls, projection: object) -> None: ...

        @staticmethod
        @hookimpl
        def continuity_before_settle(proposal: Proposal) -> None: ...

    manager = new_manager()
    plugin = Plugin()

    registered = register(manager, plugin, name="my-plugin", distribution="my-dist", version="1.2")

    assert registered.plugin is plugin
    assert (registered.name, registered.distribution, registered.version) == ("my-plugin", "my-dist", "1.2")
    assert registered.order == Plugin.order
    assert registered.budgets == Plugin.budgets
    assert registered.edits_user_input
    assert hooks_of(manager, plugin) == (
        "continuity_turn_ended",
        "continuity_before_settle",
        "continuity_project",
        "continuity_observe",
    )


def test_a_plugin_that_declares_nothing_stands_among_those_that_recover() -> None:
    registered = register(new_manager(), Observer(), name="my-plugin")

    assert registered.order == Order(stage=Stage.RECOVER)
    assert registered.budgets == ()
    assert not registered.edits_user_input


def test_a_module_can_be_a_plugin_and_may_import_the_core_by_name() -> None:
    module = types.ModuleType("observer")
    module.__dict__["continuity_core"] = types.ModuleType("continuity_core")
    module.__dict__["continuity_observe"] = hookimpl(lambda event: None)
    manager = new_manager()

    register(manager, module, name="observer")

    assert hooks_of(manager, module) == ("continuity_observe",)


def test_the_message_names_plugin_distribution_and_version() -> None:
    assert refusal(object()).startswith('plugin "my-plugin" (my-dist 1.2) was refused: it has no hook.')


def test_a_coroutine_hook_is_refused() -> None:
    class Plugin:
        @hookimpl
        async def continuity_turn_ended(self, boundary: Boundary) -> None: ...

    message = refusal(Plugin())

    assert "continuity_turn_ended is a coroutine function, and hooks are synchronous. Remove async" in message
    assert "return a Wait" in message


def test_an_async_generator_hook_is_refused() -> None:
    class Plugin:
        @hookimpl
        async def continuity_turn_ended(self, boundary: Boundary) -> AsyncIterator[Resume]:
            yield Resume("again")

    assert "continuity_turn_ended is an async generator function" in refusal(Plugin())


@pytest.mark.parametrize("hook", ["continuity_classify", "continuity_observe"])
def test_a_generator_is_refused_where_its_body_would_never_run(hook: str) -> None:
    class Plugin:
        @hookimpl(specname=hook)
        def generate(self, run: object) -> Iterator[None]:
            yield None

    assert (
        f"generate is a generator function, whose body would never run here. Use return: {hook}"
        in refusal(Plugin())
    )


@pytest.mark.parametrize("flag", ["wrapper", "hookwrapper"])
def test_a_wrapper_is_refused(flag: str) -> None:
    class Plugin:
        @hookimpl(**{flag: True})  # type: ignore[call-overload]
        def continuity_turn_ended(self, boundary: Boundary) -> Iterator[None]:
            yield

    assert f"continuity_turn_ended is a wrapper ({flag}=True), and the chain has none" in refusal(Plugin())


@pytest.mark.parametrize("flag", ["tryfirst", "trylast"])
def test_a_place_asked_for_in_the_marker_is_refused(flag: str) -> None:
    class Plugin:
        @hookimpl(**{flag: True})  # type: ignore[call-overload]
        def continuity_turn_ended(self, boundary: Boundary) -> None: ...

    message = refusal(Plugin())

    assert (
        f"continuity_turn_ended asks for its place with {flag}=True. Declare the place: order = Order("
        in message
    )


@pytest.mark.parametrize("optional", [False, True])
def test_a_misspelt_hook_is_refused_even_if_it_is_optional(optional: bool) -> None:
    class Plugin(Observer):
        @hookimpl(optionalhook=optional)
        def continuity_turn_endet(self, boundary: Boundary) -> None: ...

    message = refusal(Plugin())

    assert "continuity_turn_endet is no hook of continuity. Did you mean continuity_turn_ended?" in message


def test_a_marked_function_without_the_prefix_is_refused_with_the_name_that_was_meant() -> None:
    class Plugin:
        @hookimpl
        def before_settle(self, boundary: Boundary) -> None: ...

    assert "before_settle is no hook of continuity. Did you mean continuity_before_settle?" in refusal(
        Plugin()
    )


def test_a_misspelt_specname_is_refused() -> None:
    class Plugin:
        @hookimpl(specname="continuity_clasify")
        def classify(self, turn: object) -> None: ...

    assert "continuity_clasify is no hook of continuity. Did you mean continuity_classify?" in refusal(
        Plugin()
    )


def test_a_hook_without_its_decorator_is_refused_beside_one_that_has_it() -> None:
    class Plugin(Observer):
        def continuity_turn_ended(self, boundary: Boundary) -> None: ...

    message = refusal(Plugin())

    assert (
        "continuity_turn_ended would never be called: it is not decorated. Decorate it with @hookimpl"
        in message
    )


def test_a_misspelt_function_without_its_decorator_is_refused() -> None:
    class Plugin(Observer):
        def continuity_turn_end(self, boundary: Boundary) -> None: ...

    message = refusal(Plugin())

    assert "continuity_turn_end is no hook of continuity. Did you mean continuity_turn_ended?" in message
    assert "Other methods need a name without the prefix continuity_" in message


def test_a_hook_marked_for_another_project_is_refused() -> None:
    class Plugin(Observer):
        @other_project
        def continuity_turn_ended(self, boundary: Boundary) -> None: ...

    message = refusal(Plugin())

    assert (
        "continuity_turn_ended is decorated with the hookimpl marker of another project (pytest)" in message
    )
    assert "from continuity_core import hookimpl" in message


def test_hooks_of_another_project_beside_ours_are_none_of_our_business() -> None:
    class Plugin(Observer):
        @other_project
        def pytest_configure(self) -> None: ...

    assert register(new_manager(), Plugin(), name="my-plugin").name == "my-plugin"


def test_a_hook_that_is_no_function_is_refused() -> None:
    class Plugin(Observer):
        continuity_turn_ended = CallableObject()

    assert "continuity_turn_ended is a CallableObject, no plain function or method" in refusal(Plugin())


def test_a_hook_switched_off_in_a_subclass_is_allowed() -> None:
    class Plugin(Observer):
        continuity_turn_ended = None

    assert register(new_manager(), Plugin(), name="my-plugin").name == "my-plugin"


def test_parameters_that_cannot_be_read_are_refused() -> None:
    def observe(self: object, event: object) -> None: ...

    observe.__signature__ = "event"  # type: ignore[attr-defined]
    plugin_class = type("Plugin", (), {"continuity_observe": hookimpl(observe)})

    assert "the parameters of continuity_observe cannot be read" in refusal(plugin_class())


def test_a_slot_that_is_not_yet_filled_is_no_mistake() -> None:
    class Plugin(Observer):
        __slots__ = ("later",)

    assert register(new_manager(), Plugin(), name="my-plugin").name == "my-plugin"


def test_two_functions_for_one_hook_are_refused() -> None:
    class Plugin(Observer):
        @hookimpl(specname="continuity_observe")
        def observe_too(self, event: object) -> None: ...

    assert "continuity_observe and observe_too both implement continuity_observe" in refusal(Plugin())


def unknown(self: object, boundry: object) -> None: ...
def defaulted(self: object, boundary: object = None) -> None: ...
def keyword_only(self: object, *, boundary: object) -> None: ...
def variable(self: object, *boundary: object) -> None: ...
def keywords(self: object, **boundary: object) -> None: ...
def selfless(boundary: object, proposal: object) -> None: ...
def empty() -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (unknown, 'has an unknown parameter boundry. Did you mean "boundary"? It is continuity_turn_ended('),
        (
            defaulted,
            "parameter boundary of continuity_turn_ended has a default, and would never be given a value",
        ),
        (keyword_only, "of continuity_turn_ended is keyword-only. Name what it needs of"),
        (variable, "of continuity_turn_ended collects positional arguments"),
        (keywords, "of continuity_turn_ended collects keyword arguments"),
        (selfless, "continuity_turn_ended lacks its first parameter, self"),
        (empty, "continuity_turn_ended lacks its first parameter, self"),
    ],
)
def test_parameters_that_the_specification_does_not_have_are_refused(function: Any, message: str) -> None:
    copy = types.FunctionType(function.__code__, {}, "continuity_turn_ended", function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    plugin_class = type("Plugin", (), {"continuity_turn_ended": hookimpl(copy)})

    assert message in refusal(plugin_class())


def test_parameters_that_are_not_needed_may_be_left_out() -> None:
    class Plugin:
        @hookimpl
        def continuity_turn_ended(self) -> None: ...

    assert register(new_manager(), Plugin(), name="my-plugin").name == "my-plugin"


def test_a_class_is_refused_where_an_instance_is_meant() -> None:
    message = refusal(Observer)

    assert "it is the class Observer, not an instance" in message
    assert "have you forgotten the () in Observer()?" in message


def test_none_is_refused() -> None:
    assert "it is None" in refusal(None)


def test_a_plugin_whose_methods_lack_prefix_and_decorator_is_told_so() -> None:
    class Plugin:
        def turn_ended(self, boundary: Boundary) -> None: ...

    message = refusal(Plugin())

    assert "it has no hook. Is turn_ended meant? Name it continuity_turn_ended and decorate it" in message


def test_a_name_that_is_taken_is_refused_with_its_holder_who_stays() -> None:
    manager = new_manager()
    first = Observer()
    register(manager, first, name="my-plugin", distribution="first-dist", version="0.9")

    with pytest.raises(PluginError, match=r'already taken by plugin "my-plugin" \(first-dist 0.9\)'):
        register(manager, Observer(), name="my-plugin", distribution="second-dist")

    assert manager.list_name_plugin() == [("my-plugin", first)]
    assert hooks_of(manager, first) == ("continuity_observe",)


def test_a_name_that_was_given_back_can_be_taken_again() -> None:
    manager = new_manager()
    first, second = Observer(), Observer()
    register(manager, first, name="my-plugin")
    manager.unregister(first)

    assert register(manager, second, name="my-plugin").plugin is second


def test_a_blocked_name_is_refused() -> None:
    manager = new_manager()
    manager.set_blocked("my-plugin")

    with pytest.raises(PluginError, match="its name is blocked"):
        register(manager, Observer(), name="my-plugin")


def test_the_same_object_under_two_names_is_refused() -> None:
    manager = new_manager()
    plugin = Observer()
    register(manager, plugin, name="first")

    with pytest.raises(PluginError, match='already registered as "first"'):
        register(manager, plugin, name="second")
    assert manager.list_name_plugin() == [("first", plugin)]


def test_two_plugins_that_say_they_are_equal_are_told_about_equality() -> None:
    class Plugin(Observer):
        def __eq__(self, other: object) -> bool:
            return True

    manager = new_manager()
    register(manager, Plugin(), name="first")

    with pytest.raises(PluginError, match="eq=False"):
        register(manager, Plugin(), name="second")
    assert [name for name, _ in manager.list_name_plugin()] == ["first"]


def test_nothing_stays_behind_if_pluggy_fails_half_way() -> None:
    class HalfWay(pluggy.PluginManager):
        def register(self, plugin: object, name: str | None = None) -> str | None:
            super().register(plugin, name)
            raise RuntimeError("too late")

    manager = HalfWay("continuity")
    manager.add_hookspecs(hookspecs)
    plugin = Observer()

    with pytest.raises(PluginError, match=r"pluggy does not take it \(RuntimeError: too late\)"):
        register(manager, plugin, name="my-plugin")

    assert manager.list_name_plugin() == []
    assert hooks_of(manager, plugin) == ()


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ((9, 0), "it is written for a newer hook specification (9.0; this is 0.1). Upgrade continuity-core."),
        ((0, 0), "it is written for an older hook specification (0.0; this is 0.1). Upgrade the plugin."),
        ("0.1", "spec_version is '0.1'. Write it as a tuple, e.g. (0, 1)."),
        ((0, 1.5), "spec_version is (0, 1.5)"),
    ],
)
def test_another_version_of_the_specification_is_refused(version: object, message: str) -> None:
    class Plugin(Observer):
        spec_version = version

    assert message in refusal(Plugin())


def test_an_attribute_that_raises_is_refused_with_its_name_and_the_exception() -> None:
    class Plugin(Observer):
        @property
        def broken(self) -> int:
            raise RuntimeError("no such luck")

    message = refusal(Plugin())

    assert "its attribute broken raises when looked at (RuntimeError: no such luck)" in message


def test_a_lazy_attribute_is_left_alone() -> None:
    class Plugin(Observer):
        @functools.cached_property
        def client(self) -> int:
            raise RuntimeError("not yet")

    assert register(new_manager(), Plugin(), name="my-plugin").name == "my-plugin"


@pytest.mark.parametrize("error", [RuntimeError("odd"), SystemExit(3)])
def test_a_lookup_that_raises_is_refused(error: BaseException) -> None:
    class Plugin(Observer):
        def __getattr__(self, name: str) -> object:
            raise error

    assert "looking for its attribute spec_version raises" in refusal(Plugin())


def test_a_listing_of_attributes_that_raises_is_refused() -> None:
    class Plugin(Observer):
        def __dir__(self) -> list[str]:
            raise RuntimeError("nothing to see")

    assert "dir() of it raises when looked at (RuntimeError: nothing to see)" in refusal(Plugin())


def test_an_interrupt_while_looking_at_a_plugin_is_passed_on() -> None:
    class Plugin(Observer):
        @property
        def slow(self) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        register(new_manager(), Plugin(), name="my-plugin")


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("order", "recover", "order is 'recover'. Make it an Order"),
        ("order", Order(runs_before=("my-plugin",)), "its order names itself"),
        ("edits_user_input", "yes", "edits_user_input is 'yes'. Set it to True or False."),
        ("budgets", [Budget("tries", 1)], "budgets is [Budget("),
        ("budgets", (3,), "budgets is (3,). Make it a tuple of Budget"),
        ("budgets", (Budget("tries", 1), Budget("tries", 2)), 'two of its budgets are named "tries"'),
        ("budgets", (Budget("My tries", 1),), "'My tries' is no budget name"),
        ("budgets", (Budget("a", 1, within="b"),), "budget \"a\" lies within 'b', not declared"),
        (
            "budgets",
            (Budget("a", 1, within="b"), Budget("b", 1, within="c"), Budget("c", 1, within="b")),
            "its budgets lie within each other: b -> c -> b",
        ),
        (
            "budgets",
            (Window(name="window", waits=1, held=1, later_waits=1, later_held=1),),
            "it declares a Window (window), which is not charged to max_resumes. Declare a Budget: only",
        ),
    ],
)
def test_declarations_of_the_wrong_kind_are_refused(attribute: str, value: object, message: str) -> None:
    plugin_class = type("Plugin", (Observer,), {attribute: value})

    assert message in refusal(plugin_class())


def test_the_one_plugin_with_a_window_may_have_it() -> None:
    class Plugin(Observer):
        budgets = (Window(name="window", waits=1, held=1, later_waits=1, later_held=1),)

    assert register(new_manager(), Plugin(), name="usage-limit-wait").budgets == Plugin.budgets


@pytest.mark.parametrize("name", ["My-Plugin", "-plugin", "my_plugin", "", "my plugin", "plügin", "a\n"])
def test_a_bad_name_is_refused(name: str) -> None:
    assert "is no plugin name. Use small letters, digits and hyphens" in refusal(Observer(), name)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    class Plugin:
        order = "first"

        @hookimpl(tryfirst=True)
        async def continuity_turn_ended(self, boundary: Boundary, extra: int) -> None: ...

        @hookimpl
        def continuity_obsrve(self, event: object) -> None: ...

    manager = new_manager()
    with pytest.raises(PluginError) as caught:
        register(manager, Plugin(), name="my-plugin")

    whys = [refusal.why for refusal in caught.value.refusals]
    assert whys == [
        "order is 'first'",
        "continuity_obsrve is no hook of continuity",
        "continuity_turn_ended asks for its place with tryfirst=True",
        "continuity_turn_ended is a coroutine function, and hooks are synchronous",
        "continuity_turn_ended has an unknown parameter extra",
    ]
    assert str(caught.value).count(" Also: ") == 4
