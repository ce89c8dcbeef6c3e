"""A reply of the window: what is asked, who listens, and how a model makes it, with tools or without them.

Runs on a thread of its own; what it makes reaches the UI thread a frame at a time. No Qt.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from app.gui.texts import tr
from app.gui.viewmodels.chat.history import FILE_BEGINS
from app.gui.viewmodels.sampling import reasoning
from engine.errors import BadRequest

if TYPE_CHECKING:
    from app.gui.store.messages import Attachment, GivenPassage
    from app.runtime.chat import ChatRequest, PreparedChat, ReplyEvent
    from app.runtime.models import ModelService
    from app.runtime.tools.loop import ModelReply, ToolEvent
    from app.runtime.tools.open_tools import OpenTools
    from app.runtime.tools.permissions import PermissionAnswer, PermissionRequest
    from engine.loading import LoadedModel
    from engine.types import FinishReason, RequestHandle, SamplingParams, Timings

_SHOWN = 80  # characters of what a tool is asked
# read by the model, in the language of its training
_MISSING = {
    "image": "(A picture is attached that you cannot see.)",
    "audio": "(A sound is attached that you cannot hear.)",
}


class FrameSink(Protocol):
    def put(self, item: Any) -> None: ...


@dataclass(frozen=True)
class ReplyRequest:
    """What a chat asks for. Messages have OpenAI's shape. `tools`: names of tool servers and built-in tools; `granted`: what is allowed
    in this conversation, which answers add to."""

    model: str
    messages: Sequence[Mapping[str, Any]]
    sampling: Mapping[str, Any] = field(default_factory=dict)  # fields of SamplingParams that were set
    reasoning: Mapping[str, Any] = field(default_factory=dict)  # fields of ChatRequest that were set
    tools: Sequence[str] = ()
    granted: set[str] = field(default_factory=set)
    continue_last: bool = False
    passages: Callable[[ModelService], Sequence[GivenPassage]] | None = None  # of the libraries that are asked
    facts: Sequence[str] = ()  # that the person lets Grus keep, newest first
    keep_fact: Callable[[str], Any] | None = None  # keeps another one; blocks
    keep_picture: Callable[[bytes], Attachment] | None = (
        None  # a picture that a tool returned; raises BadRequest where it is none
    )


@dataclass(eq=False)
class PermissionQuestion:
    """The reply waits for the answer. `edited`: the arguments as a person has typed them so far."""

    request: PermissionRequest
    answer: Future[PermissionAnswer] = field(default_factory=Future)
    edited: str | None = None


@dataclass(frozen=True)
class CallProgress:
    """A call began or ended. `label`: SERVER/TOOL. `pictures` of the result are in use (`release`) until a row refers to them."""

    label: str
    event: ToolEvent
    pictures: Sequence[Attachment] = ()


class RoundBegan:
    """The model is asked again, with the results of its calls."""


CallNews = PermissionQuestion | CallProgress | RoundBegan


class ReplyListener(Protocol):
    """Shows a reply. Called on the UI thread; exactly one of `ended` and `failed` comes last."""

    def working(self, what: str) -> None:
        """What happens before the first word: loading, reading. One sentence."""

    def found(self, passages: Sequence[GivenPassage]) -> None:
        """What the model was given of the libraries."""

    def noted(self, sentence: str) -> None:
        """Something to know that is no reason to fail."""

    def called(self, news: CallNews) -> None: ...
    def parts(self, parts: Sequence[ReplyEvent]) -> None: ...
    def ended(self, reason: FinishReason, timings: Timings) -> None: ...
    def failed(self, sentence: str) -> None: ...


class PendingReply:
    """A reply that is being made. `cancel` may come at any time, also before the model is loaded."""

    gather: FrameSink

    def __init__(
        self,
        listener: ReplyListener,
        over: Callable[[PendingReply], None],
        reach: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """`reach` is given a sentence while a tool asks something beyond this machine, then an empty one."""
        self._listener, self._over, self._reach = listener, over, reach
        self._guard = threading.Lock()
        self._cancel: Callable[[], None] | None = None
        self._cancelled = False
        self._ended = False
        self._silent = False

    def silence(self) -> None:
        self._silent = True

    def cancel(self) -> None:
        with self._guard:
            self._cancelled = True
            cancel = self._cancel
        if cancel is not None:
            cancel()

    def attach(self, cancel: Callable[[], None]) -> None:
        with self._guard:
            self._cancel = cancel
            late = self._cancelled
        if late:
            cancel()

    def hand_over(self, items: list[Any]) -> None:
        """On the UI thread: everything that came since the last frame, parts joined."""
        if self._silent:
            return
        parts: list[Any] = []
        for kind, *what in items:
            if kind == "parts":
                parts += what[0]
                continue
            if parts:
                self._listener.parts(parts)
                parts = []
            if kind == "reach":
                self._reach(*what)
            elif kind in ("working", "found", "noted", "called"):
                getattr(self._listener, kind)(*what)
            elif not self._ended:
                self._ended = True
                with self._guard:
                    self._cancel = None  # a reply that is kept must not keep its request alive
                (self._listener.ended if kind == "ended" else self._listener.failed)(*what)
                self._over(self)
        if parts:
            self._listener.parts(parts)


# -- beside the UI thread


class ReplyEngine(Protocol):
    """What a reply needs of the window's engine (`app.window_engine.WindowEngine`)."""

    defaults_of: Callable[[str], Mapping[str, Any]]

    @property
    def service(self) -> ModelService: ...
    @property
    def tools(self) -> OpenTools: ...
    def bring(self, name: str) -> LoadedModel: ...


def make_reply(engine: ReplyEngine, ask: ReplyRequest, speaking: PendingReply) -> None:
    """Blocks until the reply has ended. Raises what went wrong."""
    from app.runtime.chat import ChatRequest, calls_tools
    from app.runtime.memories import with_facts
    from engine.types import SamplingParams

    service, put = engine.service, speaking.gather.put
    if not service.is_ready(ask.model):
        put(("working", tr("Loading {model}.", model=ask.model)))
    loaded = engine.bring(ask.model)
    messages = with_facts(readable(ask.messages, loaded), ask.facts, loaded.tokenizer.markers)
    defaults = engine.defaults_of(service.model_of(ask.model))
    params: SamplingParams = SamplingParams(**{**_sampling(defaults), **ask.sampling})
    reasons = _reasoning(defaults, ask.reasoning)
    conversation = ChatRequest(messages, params, continue_last=ask.continue_last, **reasons)
    rounds = _Rounds(service, loaded, ask, conversation, speaking)
    try:
        if (ask.tools or ask.keep_fact) and calls_tools(loaded):
            rounds.run_with(engine.tools)
        else:
            if ask.tools:
                put(("noted", tr("{model} does not support tool calls. It answers without tools.", model=ask.model)))
            rounds.ask(messages)
    except CancelledError:
        rounds.reason = "cancelled"
    put(("ended", rounds.reason, rounds.timings))


class _Rounds:
    """The replies of the model that make one reply of the window: one, or several between which tools are called."""

    def __init__(
        self,
        service: ModelService,
        loaded: LoadedModel,
        ask: ReplyRequest,
        conversation: ChatRequest,
        speaking: PendingReply,
    ) -> None:
        from engine.types import Timings

        self._service, self._loaded, self._ask, self._conversation = service, loaded, ask, conversation
        self._put = speaking.gather.put
        self._passages: Sequence[GivenPassage] | None = None
        self._asked = False
        self._stop: Future[None] = Future()
        self._running: list[Callable[[], Any]] = []  # what ends that which the reply waits for
        self.reason: FinishReason = "stop"
        self.timings = Timings()
        speaking.attach(self._cancel)

    def _cancel(self) -> None:
        """From any thread."""
        with suppress(InvalidStateError):
            self._stop.set_result(None)
        for cancel in tuple(self._running):
            cancel()

    def _wait_for(self, cancel: Callable[[], Any]) -> None:
        self._running = [cancel]
        if self._stop.done():  # it was stopped between the last wait and this one
            cancel()

    def run_with(self, tools: OpenTools) -> None:
        """The tool loop. Raises CancelledError when the reply is stopped."""
        from app.runtime.memories import with_remember
        from app.runtime.tools.loop import ToolCallBegun, ToolLoop
        from app.runtime.tools.permissions import Permissions

        if self._ask.tools:
            self._put(("working", tr("Starting the tools.")))
        found, problems = tools.open(self._ask.tools, self._stop)
        found = with_remember(found, self._ask.keep_fact, tools.settings)
        for problem in problems:
            self._put(("noted", problem))
        by_name = {tool.name: tool for tool in found}

        def show(event: ToolEvent) -> None:
            tool = by_name.get(event.name if isinstance(event, ToolCallBegun) else event.step.name)
            if tool is not None and tool.leaves_machine:
                asked = (
                    " · ".join(map(str, event.arguments.values()))[:_SHOWN] if isinstance(event, ToolCallBegun) else ""
                )
                sentence = tr("{tool} is asked over the network: {question}", tool=tool.label, question=asked)
                self._put(("reach", sentence if isinstance(event, ToolCallBegun) else ""))
            label = tool.label if tool is not None else ""
            pictures = () if isinstance(event, ToolCallBegun) else self._kept(event.step.pictures)
            self._put(("called", CallProgress(label, event, pictures)))

        allowed = Permissions(tools.settings, found, self._question, granted=self._ask.granted)
        sees = getattr(self._loaded, "vision", None) is not None
        loop = ToolLoop(
            self.ask, found, allowed.approve, stop=self._stop, on_event=show, markers=self._loaded.tokenizer.markers, sees=sees
        )  # fmt: skip
        try:
            loop.run(self._conversation.messages)
        finally:
            self._put(("reach", ""))

    def _kept(self, pictures: Sequence[bytes]) -> list[Attachment]:
        found: list[Attachment] = []
        for picture in pictures:
            if self._ask.keep_picture is not None:
                with suppress(BadRequest, OSError):  # what is no picture is not shown
                    found.append(self._ask.keep_picture(picture))
        return found

    def _question(self, request: PermissionRequest) -> PermissionAnswer:
        question = PermissionQuestion(request)
        self._put(("called", question))
        self._wait_for(question.answer.cancel)
        return question.answer.result()

    def ask(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> ModelReply:
        """One reply of the model, streamed. Raises CancelledError when it is stopped."""
        from app.runtime.chat import ReplyCollector
        from app.runtime.tools.loop import ModelReply
        from engine.types import Done, Failed, Progress

        if self._asked:
            self._put(("called", RoundBegan()))
        again = self._conversation.continue_last and not self._asked
        self._asked = True
        prepared = self._prepared(replace(self._conversation, messages=messages, tools=tools, continue_last=again))
        count = len(prepared.request.prompt_ids)
        reading = tr("Reading {n} tokens.", n=count) if count else tr("Waiting for the model.")
        self._put(("working", reading))
        handle: RequestHandle = self._service.submit(prepared.request)
        self._wait_for(handle.cancel)
        collector = ReplyCollector()
        for event in handle:
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, Progress):
                share = f"{100 * event.done // max(1, event.total)} %"
                self._put(("working", tr("Reading the conversation: {share}.", share=share)))
            parts = prepared.reader.read(event)
            for part in parts:
                collector.add(part)
            if parts:
                self._put(("parts", parts))
            if isinstance(event, Done):
                ends = [part.reason for part in parts if part.kind == "end"]
                self.reason = event.reason if event.reason == "cancelled" or not ends else ends[-1]
                self.timings = _one_after_the_other(self.timings, event.timings)
        if self.reason == "cancelled":
            raise CancelledError
        made = collector.messages()
        return ModelReply(made[0].answer, made[0].calls) if made else ModelReply("", ())

    def _prepared(self, conversation: ChatRequest) -> PreparedChat:
        from app.runtime.chat import prepare
        from app.runtime.library.answers import prepared_with

        if self._ask.passages is None:
            return prepare(conversation, self._loaded, self._ask.model)
        first = self._passages is None
        if self._passages is None:
            self._put(("working", tr("Searching your documents.")))
            self._passages = self._ask.passages(self._service)
        prepared, self._passages = prepared_with(conversation, self._passages, self._loaded, self._ask.model)
        if first:
            self._put(("found", self._passages))
        return prepared


def _one_after_the_other(first: Timings, second: Timings) -> Timings:
    """Of two rounds: the time that the model took, without that of tools and of the person between them."""
    if not first.total:
        return second
    return replace(
        first,
        total=first.total + second.total,
        prompt_tokens=second.prompt_tokens,
        cached_tokens=second.cached_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
    )


def _sampling(chosen: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in chosen.items() if key not in ("thinking", "reasoning_tokens")}


def _reasoning(defaults: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What a conversation says about reasoning; what it leaves open is the model's."""
    own = {key: value for key, value in reasoning(defaults).items() if value is not None}
    if "thinking" in chosen or "effort" in chosen:
        own = {key: value for key, value in own.items() if key == "reasoning_tokens"}
    return own | dict(chosen)


def readable(messages: Sequence[Mapping[str, Any]], model: LoadedModel) -> Sequence[Mapping[str, Any]]:
    """A conversation for this model: what tools returned and files hold has none of its markers, and a model gets no pictures and sounds
    that it does not see and hear."""
    from app.runtime.tools.loop import without_markers
    from engine.vision.processor import hearing, seeing

    def plain(text: str, role: str) -> str:
        outside = role == "tool" or (role == "user" and FILE_BEGINS in text)
        return without_markers(text, model.tokenizer.markers) if outside else text

    def words(content: Any, role: str) -> Any:
        if isinstance(content, str):
            return plain(content, role)
        return [{**part, "text": plain(part["text"], role)} if part["type"] == "text" else part for part in content]

    vision = getattr(model, "vision", None)
    missing = set() if seeing(vision) else {"image"}
    made = without_media(messages, missing if hearing(vision) is not None else {*missing, "audio"})
    return [{**message, "content": words(message["content"], message["role"])} for message in made]


def without_media(messages: Sequence[Mapping[str, Any]], kinds: Collection[str]) -> list[Mapping[str, Any]]:
    """For a model that takes none of these: a picture of an earlier turn must not end the conversation."""

    def words(content: Any) -> Any:
        if not isinstance(content, list) or not any(part["type"] in kinds for part in content):
            return content
        made = [{"type": "text", "text": _MISSING[part["type"]]} if part["type"] in kinds else part for part in content]
        if any(part["type"] != "text" for part in made):
            return made
        return "\n\n".join(part["text"] for part in made)

    return [{**message, "content": words(message["content"])} for message in messages]
