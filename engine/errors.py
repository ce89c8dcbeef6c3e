"""Every error that a user can cause or meet, as a type. The message says what was wrong, and what to do.

The command line prints the message alone and exits with `exit_code`; the server turns `code` into its families' shapes.
Anything that is not a GrusError is a bug of ours.
"""

from __future__ import annotations


class ErrorText(str):
    """An English message that keeps its template and what fills it, so that the window can say it in another language.

    To all else it is the message: `ErrorText("There is no file {path}.", path=path)`. A value may be an ErrorText itself.
    """

    template: str
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> ErrorText:
        text = super().__new__(cls, template.format(**values) if values else template)
        text.template, text.values = template, values
        return text


class GrusError(Exception):
    """Base of all. `code` is stable and machine-readable."""

    code = "error"
    exit_code = 2

    @property
    def text(self) -> str:
        """The message: an ErrorText where the window can translate it."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


# -- checkpoints


class CheckpointError(GrusError):
    """A model's files are wrong."""

    code = "bad_checkpoint"


class ModelNotFound(CheckpointError):
    """Neither a folder, nor a file, nor a cached or reachable repository."""

    code = "model_not_found"


class ConfigError(CheckpointError):
    """config.json is missing, is not JSON, or says something impossible."""

    code = "bad_config"


class UnsupportedArchitecture(CheckpointError):
    """The checkpoint is fine, but no model of ours reads its architecture."""

    code = "unsupported_architecture"


class WeightsError(CheckpointError):
    """A weights file is truncated or corrupt, or tensors are missing, unexpected or of the wrong shape."""

    code = "bad_weights"


class TokenizerError(CheckpointError):
    """No tokenizer, or one that cannot be read."""

    code = "bad_tokenizer"


class TemplateError(CheckpointError):
    """A chat template is broken or refuses the conversation."""

    code = "bad_template"


class Offline(ModelNotFound):
    """The model is not on this machine and the network is off or out of reach."""

    code = "offline"


class AccessRefused(ModelNotFound):
    """The hub has the repository, and lets nobody in without its terms accepted and a token of that account."""

    code = "access_refused"


# -- this machine


class BackendUnavailable(GrusError):
    """A backend or device that was asked for is not here; the message says what installs it."""

    code = "backend_unavailable"


class OutOfMemory(GrusError):
    """The model or its context does not fit."""

    code = "out_of_memory"


class DiskFull(GrusError):
    """There is no room for a file; what was written so far is kept where it can be used."""

    code = "disk_full"


# -- requests


class BadRequest(GrusError):
    """A parameter has an impossible value. `param` names it."""

    code = "bad_request"

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


class Unsupported(BadRequest):
    """A parameter that exists, but not for this model or here. `param` names it."""

    code = "unsupported_parameter"


class MissingCapability(BadRequest):
    """A model was asked for work that it cannot do, or no model here can do it: `capability`, such as "speak"."""

    code = "missing_capability"

    def __init__(self, message: str, capability: str, *, nowhere: bool = False) -> None:
        """`nowhere`: no model here can do it."""
        super().__init__(message, "model")
        self.capability = capability
        self.nowhere = nowhere


class ContextOverflow(BadRequest):
    """Prompt and reply cannot fit into the model's context: `tokens` of `limit`. Unless `exact`, the prompt was not counted
    to its end, and has as many or more."""

    code = "context_length_exceeded"

    def __init__(self, message: str, param: str | None = None, *, tokens: int, limit: int, exact: bool = True) -> None:
        super().__init__(message, param)
        self.tokens = tokens
        self.limit = limit
        self.exact = exact


class UnreadableFile(BadRequest):
    """A document or one of its pages cannot be read: broken, empty, of an unknown kind, or too large."""

    code = "unreadable_file"


class PasswordNeeded(UnreadableFile):
    """A document is protected, and the password is missing or wrong."""

    code = "password_needed"


class RemoteFailed(GrusError):
    """A server elsewhere, whose models are used here, cannot be reached, broke off, stayed silent or answered nonsense."""

    code = "remote_failed"
    exit_code = 1


class RemoteAccessRefused(RemoteFailed):
    """A server elsewhere refuses the key that it was given, or wants one."""

    code = "remote_access_refused"
    exit_code = 2


class ToolServerFailed(GrusError):
    """A server of tools cannot be started or reached, ended, stayed silent, or answered nonsense."""

    code = "tool_server_failed"
    exit_code = 1


class ToolSignInNeeded(ToolServerFailed):
    """A server of tools asks the person to sign in."""

    code = "tool_sign_in_needed"
    exit_code = 2


class NumericalError(GrusError):
    """The model produced NaN: a broken checkpoint, or a dtype that is too narrow for it."""

    code = "nan_logits"
    exit_code = 1


class SpeechRanAway(GrusError):
    """A voice did not come to an end: it fell silent, repeated itself, or spoke far longer than its text."""

    code = "speech_ran_away"
    exit_code = 1


class QueueFull(GrusError):
    """More requests wait than the engine was set to hold."""

    code = "queue_full"


class SlowConsumer(GrusError):
    """Nobody read a request's events for so long that their queue was full; the request was ended."""

    code = "slow_consumer"


class EngineStopped(GrusError):
    """The engine was shut down, or the model unloaded, before the request ended."""

    code = "engine_stopped"


class EngineFault(GrusError):
    """A step failed inside; the request is lost, the engine keeps running."""

    code = "engine_fault"
    exit_code = 1
