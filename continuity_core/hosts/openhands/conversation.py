"""The conversation that users hold."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from openhands.sdk.conversation import ConversationExecutionStatus, LocalConversation

from continuity_core.continuity import Continuity
from continuity_core.engine.base_run import BaseRun
from continuity_core.engine.run import SyncRun
from continuity_core.hosts.adapting import continuity_of
from continuity_core.hosts.openhands.agent import WatchedAgent
from continuity_core.hosts.openhands.driver import RunDriver, Senders
from continuity_core.hosts.openhands.endings import StreamEndings
from continuity_core.hosts.openhands.memory import KEY, Memory
from continuity_core.model.boundary import Mode
from continuity_core.model.report import Report, RunOutcome

_NO_TOOL = "continuity: no tool"


class ContinuityConversation:
    """A conversation whose runs are kept alive: ``ContinuityConversation(Conversation(agent=..., ...))``.

    Everything but what is described here is the conversation's own, and may be used through this object;
    messages, pauses and interruptions that come through it end a wait at once.

    ``continuity`` is shared with others; without it one is loaded, with ``settings`` (the keys of
    ``[tool.continuity]``) and ``plugins`` besides those found. ``parent`` is the run of continuity for which
    this conversation works. ``ending_tools`` names the tools that end a run on purpose, besides ``finish``: a
    run that any other tool ends is gone on with. Without it, every tool that ends a run does so on purpose.

    Raises ``TypeError`` for a remote conversation or one with an ACP agent, whose loops run elsewhere, and
    ``ConfigurationError`` where the configuration is not valid.
    """

    def __init__(
        self,
        conversation: Any,
        *,
        settings: Mapping[str, Any] | None = None,
        plugins: Iterable[object] = (),
        continuity: Continuity | None = None,
        parent: BaseRun | None = None,
        ending_tools: Collection[str] | None = None,
    ) -> None:
        if isinstance(ending_tools, str):
            raise ValueError(f"ending_tools takes several names, not the text {ending_tools!r}")
        _check(conversation)
        own = self.__dict__
        own["conversation"] = conversation
        own["continuity"] = continuity_of(continuity, settings=settings, plugins=plugins)
        own["_parent"] = parent
        own["_ending_tools"] = None if ending_tools is None else frozenset(ending_tools)
        own["_endings"] = StreamEndings()
        own["_senders"] = Senders()
        own["_memory"] = Memory.of(conversation.state)
        own["_driver"] = None
        own["_report"] = None
        own["_is_stopped"] = False

    conversation: Any
    """The conversation itself."""
    continuity: Continuity
    """Holds the plugins and the settings, and switches them on and off."""
    _parent: BaseRun | None
    _ending_tools: frozenset[str] | None
    _endings: StreamEndings
    _senders: Senders
    _memory: Memory
    _driver: RunDriver | None
    _report: Report | None
    _is_stopped: bool
    """The user has stopped it since the last call of ``run()`` or ``arun()``."""

    def __getattr__(self, name: str) -> Any:
        if "conversation" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["conversation"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["conversation"], name, value)

    # ---------------------------------------------------------------- what may be looked at

    @property
    def continuity_run(self) -> BaseRun | None:
        """Continuity's run that goes on, e.g. as the parent of a sub-agent's."""
        return None if self._driver is None else self._driver.run

    @property
    def report(self) -> Report | None:
        """The story of the run that goes on, or of the last one."""
        return self._report if self._driver is None else self._driver.run.report()

    # ---------------------------------------------------------------- running

    def run(self) -> None:
        """As the conversation's own; waits are held on this thread, with the conversation's lock free.

        Raises what that one raises, and :class:`IncompleteRun` where continuity's settings ask for it.
        """
        self.__dict__["_is_stopped"] = False
        _make_ready(self.conversation)
        if self._is_stopped:  # Nothing of the framework runs yet that would heed it.
            return
        with self._driven(self.continuity.start_sync_run):
            self.conversation.run()

    async def arun(self) -> None:
        """As the conversation's own; ``interrupt()`` ends a wait at once.

        Raises what that one raises, and :class:`IncompleteRun` where continuity's settings ask for it.
        """
        self.__dict__["_is_stopped"] = False
        await asyncio.to_thread(_make_ready, self.conversation)
        if self._is_stopped:
            return
        with self._driven(self.continuity.start_run):
            await self.conversation.arun()

    # ---------------------------------------------------------------- while it runs, from any thread

    def send_message(self, message: Any, sender: str | None = None) -> None:
        """As the conversation's own. While it runs it steers the run: a wait ends, and nothing is charged."""
        driver = self._driver
        if driver is None:
            self.conversation.send_message(message, sender=sender)
            return
        with self._senders:
            driver.run.input_arrived("steer")
            self.conversation.send_message(message, sender=sender)

    def interrupt(self) -> None:
        """As the conversation's own; it also ends a wait, and nothing more is requested."""
        driver = self._stopping()
        if driver is not None and isinstance(driver.run, SyncRun):
            driver.run.abort()  # The conversation pauses instead, and would wait for the step to end.
        self.conversation.interrupt()
        # After the task is cancelled: an abort that came first could let it end, and the caller be cancelled.
        if driver is not None:
            driver.run.abort()

    def pause(self) -> None:
        """As the conversation's own; it also ends a wait, and nothing more is requested."""
        if (driver := self._stopping()) is not None:
            driver.run.abort()
        self.conversation.pause()

    def close(self) -> None:
        """As the conversation's own; it also ends a wait."""
        if (driver := self._stopping()) is not None:
            driver.run.abort()
        self.conversation.close()

    def _stopping(self) -> RunDriver | None:
        """Note that the user stops it, before that takes effect; the run that it is about."""
        self.__dict__["_is_stopped"] = True
        return self._driver

    # ---------------------------------------------------------------- inside

    @contextmanager
    def _driven(self, start: Any) -> Iterator[None]:
        """Start continuity's run, look at each step of the agent, and settle."""
        conversation = self.conversation
        session = str(conversation.id)
        memory, saved = self._memory, None
        if self.continuity.mode is Mode.ON:
            saved = memory.run_state(session, self.continuity.clock.now())
        driver = RunDriver(
            conversation=conversation,
            run=start(session, parent=self._parent, state=saved),
            memory=memory,
            endings=self._endings,
            senders=self._senders,
            ending_tools=self._ending_tools,
        )
        self.__dict__["_driver"] = driver
        conversation.agent = WatchedAgent(conversation.agent, driver)
        try:
            yield
        except Exception as error:
            self._end(driver)
            self._settle(driver, error)
            raise
        except BaseException as error:
            self._end(driver)
            driver.run.__exit__(type(error), error, error.__traceback__)
            raise
        else:
            self._end(driver)
            self._settle(driver, None)
        finally:
            self.__dict__["_report"] = driver.run.report()

    def _end(self, driver: RunDriver) -> None:
        self.__dict__["_driver"] = None
        agent = self.conversation.agent
        if type(agent) is WatchedAgent:
            self.conversation.agent = agent.continuity_agent
        state = self.conversation.state
        if KEY in state.agent_state and driver.recovers:
            with state:
                driver.memory.save(driver.run.state)

    def _settle(self, driver: RunDriver, error: Exception | None) -> None:
        status = self.conversation.state.execution_status
        if status is ConversationExecutionStatus.PAUSED and driver.halted is None:
            driver.run.abort()
        driver.run.settled(_outcome(driver, status, error), error=error)


def _check(conversation: Any) -> None:
    if not isinstance(conversation, LocalConversation):
        raise TypeError(
            "ContinuityConversation takes a LocalConversation, which is what Conversation(...) gives for a "
            f"local workspace, not {type(conversation).__name__}: a remote one is run by its server, and has "
            "to be kept alive there"
        )
    if conversation.agent.agent_kind == "acp":
        raise TypeError("an ACP agent runs its own loop in another process, which cannot be kept alive here")


def _make_ready(conversation: LocalConversation) -> None:
    """Have plugins loaded and the agent made ready, as the first run does, before it is watched."""
    try:
        conversation.execute_tool(_NO_TOOL, None)
    except KeyError:
        return  # The documented answer to an unknown name.


def _outcome(driver: RunDriver, status: Any, error: Exception | None) -> RunOutcome | None:
    """What the host says of the end beyond the last turn; ``None`` where that one tells."""
    if driver.run.aborted:
        return RunOutcome.ABORTED
    if status is ConversationExecutionStatus.STUCK:
        return RunOutcome.INCOMPLETE
    if error is not None or status is ConversationExecutionStatus.ERROR:
        return RunOutcome.FAILED
    return None
