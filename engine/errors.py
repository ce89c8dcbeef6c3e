"""The errors that users can meet, as types. The message says what was wrong and what to do.

The command line prints the message alone and exits with `exit_code`; the server turns `code` into its families' shapes.
Anything that is not a GrusError is a bug of ours.
"""

from __future__ import annotations


class GrusError(Exception):
    """Base of all. `code` is stable and machine-readable."""

    code = "error"
    exit_code = 2


# -- checkpoints


class CheckpointError(GrusError):
    """A model's files are wrong."""

    code = "bad_checkpoint"


class ModelNotFound(CheckpointError):
    """Neither a folder, nor a file, nor a cached or reachable repository."""

    code = "model_not_found"


class ConfigError(CheckpointError):
    """config.json is missing, is not JSON, or has impossible values."""

    code = "bad_config"


class UnsupportedArchitecture(CheckpointError):
    """The checkpoint is valid, but its architecture is not supported."""

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
    """The repository is gated or private: it needs accepted terms and an access token."""

    code = "access_refused"


# -- this machine


class BackendUnavailable(GrusError):
    """The requested backend or device is not available; the message says what installs it."""

    code = "backend_unavailable"


class OutOfMemory(GrusError):
    """The model or its context does not fit."""

    code = "out_of_memory"


class DiskFull(GrusError):
    """The disk is full; a partial file is kept where it can be resumed."""

    code = "disk_full"


# -- requests


class BadRequest(GrusError):
    """A parameter has an impossible value. `param` names it."""

    code = "bad_request"

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


class ContextOverflow(BadRequest):
    """Prompt and reply cannot fit into the model's context."""

    code = "context_length_exceeded"


class UnreadableFile(BadRequest):
    """A document or one of its pages cannot be read: broken, empty, of an unknown kind, or too large."""

    code = "unreadable_file"


class PasswordNeeded(UnreadableFile):
    """A document is protected, and the password is missing or wrong."""

    code = "password_needed"


class NumericalError(GrusError):
    """The model produced NaN: a broken checkpoint, or a dtype that is too narrow for it."""

    code = "nan_logits"
    exit_code = 1


class SpeechRanAway(GrusError):
    """Speech synthesis ran away: it fell silent, repeated itself, or became far longer than its text."""

    code = "speech_ran_away"
    exit_code = 1


class QueueFull(GrusError):
    """The queue limit is reached."""

    code = "queue_full"


class SlowConsumer(GrusError):
    """A request's events were not read until its queue was full; the request was ended."""

    code = "slow_consumer"


class EngineStopped(GrusError):
    """The engine was shut down, or the model unloaded, before the request ended."""

    code = "engine_stopped"


class EngineFault(GrusError):
    """A step failed inside the engine; the request is lost, the engine continues."""

    code = "engine_fault"
    exit_code = 1
