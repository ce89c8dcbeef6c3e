"""Other architectures through transformers' own model classes: text only.

Most classes call an attention function by a name. Ours writes to and reads from the KV cache of the step that runs, so several
sequences go through a model in one packed row, and prefix reuse, speculation and sliding windows work as they do for an
architecture of Grus. Before anything is generated, the logits are compared with those of the library's own attention.

Classes that keep a memory of another kind, or compute attention by themselves, get caches of the library's own, one for each
sequence: a step runs its sequences one after the other. Either way weights stay whole, and no kernel of Grus takes part but
attention and sampling. Code that comes with a checkpoint never runs.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from backends.base import BackendMissing, Cache, FloatTensors, Foreign, KVSpec, MemorySpec, Segment, Slot, Step
from backends.library_cache import LibraryKVCache
from backends.plan import StepPlan
from backends.torch.kv_cache import TorchKVCache
from backends.torch.ops import TorchTextOps
from backends.torch.runner import TorchRunner

log = logging.getLogger("grus")
NAME = "grus"  # of the attention function, within transformers
PROBE = [3, 1, 4, 1, 5, 9]
# What transformers raises for a config without a field, for tensors that are missing, and for files that are not there.
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OSError, RuntimeError, ImportError)
_CACHE_NAMES = ("past_key_values", "cache_params")  # what classes call what they keep
_KINDS = ("full_attention", "sliding_attention")
_running: ContextVar[Cache | _Recorder] = ContextVar("running")


def supports(config: Mapping[str, Any]) -> bool:
    """Whether transformers implements this config's architecture as a language model. Imports no model."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return str(config.get("model_type")) in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES


def load(
    folder: Path, budget: int, ops: TorchTextOps, dtype: torch.dtype, floats: FloatTensors | None = None
) -> Foreign:
    """The checkpoint in `folder`. Raises BackendMissing where transformers cannot run it. `floats`: its tensors, where it is packed,
    which transformers needs another package for each kind of packing to read."""
    try:
        net = (_open(folder, dtype) if floats is None else _filled(folder, dtype, floats)).to(ops.device)
        with torch.inference_mode():
            try:
                return _together(net, budget, ops)
            except _OneByOne:
                return _one_by_one(net, budget, ops)
    except UNREADABLE as error:
        message = str(error).strip() or type(error).__name__
        raise BackendMissing(f"transformers cannot run this model: {message.splitlines()[0]}") from error


class _OneByOne(Exception):
    """The class does not work over Grus's KV cache."""


def _together(net: Any, budget: int, ops: TorchTextOps) -> Foreign:
    ids = torch.tensor([PROBE], device=net.device)
    expected: Tensor = net(input_ids=ids, use_cache=False).logits[0]
    own = net.config._attn_implementation
    try:
        net.set_attn_implementation(NAME)
        model = PackedModel(net, _layers(net, ids), expected.shape[-1])
        kv = TorchKVCache(model.memory, budget, net.dtype, ops.device, 32)
        runner = TorchRunner(model, kv, ops, plain=True)
        _compare(expected, kv, runner)
    except (*UNREADABLE, _OneByOne) as error:
        log.warning("transformers runs this model one sequence at a time: %s", error)
        net.set_attn_implementation(own)
        raise _OneByOne from error
    return Foreign(model, kv, runner)


def _one_by_one(net: Any, budget: int, ops: TorchTextOps) -> Foreign:
    expected: Tensor = net(input_ids=torch.tensor([PROBE], device=net.device), use_cache=False).logits[0]
    model = SequentialModel(net, expected.shape[-1])
    kv: Any = TransformersKVCache(model, budget)  # has what the runner uses of a TorchKVCache
    runner = TorchRunner(model, kv, ops, plain=True, view=SequentialView)
    try:
        _compare(expected, kv, runner)
    except _OneByOne as error:
        raise BackendMissing(
            f"transformers runs this architecture in a way that Grus cannot follow: {error}."
        ) from None
    return Foreign(model, kv, runner)


def _open(folder: Path, dtype: torch.dtype) -> Any:
    from transformers import AutoModelForCausalLM

    _register()
    net = AutoModelForCausalLM.from_pretrained(
        folder, dtype=dtype, local_files_only=True, trust_remote_code=False, use_safetensors=True
    )
    return net.eval().requires_grad_(False)


def _filled(folder: Path, dtype: torch.dtype, floats: FloatTensors) -> Any:
    from transformers import AutoConfig, AutoModelForCausalLM

    _register()
    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    with torch.device("meta"):
        kind = type(AutoModelForCausalLM.from_config(config, trust_remote_code=False))
    state = {name: torch.from_numpy(np.require(make(), requirements="W")).to(dtype) for name, make in floats.items()}
    net = kind.from_pretrained(None, config=config, state_dict=state, dtype=dtype)
    return net.eval().requires_grad_(False)


@cache
def _register() -> None:
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, _attention)


class TransformersModel:
    """A causal language model of transformers, as far as a `TokenModel` of either kind needs it."""

    def __init__(self, net: Any, vocab: int) -> None:
        self._net = net
        self._decoder = net.get_decoder()
        self._layers: Any = self._decoder.forward
        self._given: Tensor | None = None
        self._decoder.forward = self._forward
        self._embed: nn.Module = net.get_input_embeddings()
        self.vocab = int(vocab)
        self.memory: Sequence[MemorySpec] = ()
        self.device: torch.device = net.device
        self.dtype: torch.dtype = net.dtype

    def embed(self, ids: Tensor) -> Tensor:
        embedded: Tensor = self._embed(ids.long())
        return embedded

    def hidden(self, **inputs: Any) -> Tensor:
        hidden: Tensor = self._decoder(**inputs).last_hidden_state[0]
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """By the class's own forward, for some scale or bound them after the head; its layers give what is there already."""
        self._given = hidden[None]
        try:
            logits: Tensor = self._net(inputs_embeds=self._given, use_cache=False).logits[0]
        finally:
            self._given = None
        return logits

    def _forward(self, *args: Any, **inputs: Any) -> Any:
        return self._layers(*args, **inputs) if self._given is None else _GivenOutput(self._given)


class _GivenOutput:
    """What a class's layers return: hidden states, and nothing else."""

    def __init__(self, hidden: Tensor) -> None:
        self.last_hidden_state = hidden

    def __getitem__(self, index: int) -> Tensor:
        return (self.last_hidden_state,)[index]

    def __getattr__(self, name: str) -> None:
        return None


class PackedModel(TransformersModel):
    """Several sequences in one row, over Grus's KV cache."""

    def __init__(self, net: Any, memory: Sequence[MemorySpec], vocab: int) -> None:
        super().__init__(net, vocab)
        self.memory = memory

    def __call__(self, step: Step) -> Tensor:
        with _use(step.cache):
            return self.hidden(inputs_embeds=step.x[None], position_ids=step.pos[None].long(), use_cache=False)


class SequentialModel(TransformersModel):
    """One sequence after the other, over caches of the library's own."""

    def __init__(self, net: Any, vocab: int) -> None:
        super().__init__(net, vocab)
        self._cache_name = next(name for name in _CACHE_NAMES if name in signature(self._layers).parameters)

    def extend(self, caches: Any, x: Tensor) -> Tensor:
        """The hidden states of `x [n, D]` behind what the caches hold."""
        return self.hidden(inputs_embeds=x[None], use_cache=True, **{self._cache_name: caches})

    def caches(self) -> Any:
        from transformers import DynamicCache

        return DynamicCache(config=self._net.config)

    def __call__(self, step: Step) -> Tensor:
        view = step.cache
        assert isinstance(view, SequentialView)
        parts = []
        for packed in view.plan.segments:
            caches, x = view.kv.caches(packed.slot), step.x[packed.start : packed.stop]
            # a class with a state takes what follows its first prompt one token at a time
            size = len(x) if view.kv.trimmable or not packed.slot.length else 1
            parts += [self.extend(caches, part) for part in x.split(size)]
        return torch.cat(parts)


class TransformersKVCache(LibraryKVCache[Any]):
    """transformers' caches, one for each sequence."""

    library = "transformers"
    trimmable = False

    def __init__(self, model: SequentialModel, budget: int) -> None:
        super().__init__(budget)
        self._model = model
        self.dtype, self.device = model.dtype, model.device
        self.poisoned: set[int] = set()
        first, second = (self._measured(n) for n in (8, 16))
        self._per_token = max(0, second - first) / 8
        self._fixed = first - round(8 * self._per_token)

    def _measured(self, n: int) -> int:
        caches = self.make()
        self._model.extend(caches, self._model.embed(torch.zeros(n, dtype=torch.int64, device=self.device)))
        self.trimmable = all(type(layer).__name__ == "DynamicLayer" for layer in caches.layers)
        return self.nbytes(caches)

    def bytes_for(self, n: int) -> int:
        return self._fixed + round(n * self._per_token)

    def make(self) -> Any:
        return self._model.caches()

    def copied(self, caches: Any) -> Any:
        return copy.deepcopy(caches)

    def trim(self, caches: Any, length: int, count: int) -> None:
        caches.crop(-count)

    def nbytes(self, caches: Any) -> int:
        return sum(x.nbytes for layer in caches.layers for x in _tensors(vars(layer)))

    def make_window_room(self, slot: Slot, n: int, prompt: int | None = None) -> None:
        """The library's windows move by themselves."""


def _tensors(kept: Any) -> Iterator[Tensor]:
    if isinstance(kept, Tensor):
        yield kept
    elif isinstance(kept, Mapping):
        for value in kept.values():
            yield from _tensors(value)
    elif isinstance(kept, list | tuple):
        for value in kept:
            yield from _tensors(value)


class SequentialView:
    """One step's plan, and whose caches it uses."""

    def __init__(self, kv: TransformersKVCache, plan: StepPlan) -> None:
        self.kv, self.plan = kv, plan

    def commit(self) -> None:
        """Nothing to do: the caches were written in place."""


class _Recorder:
    """Stands in for a cache, to learn what a model's layers keep."""

    def __init__(self) -> None:
        self.specs: dict[int, KVSpec] = {}


@contextmanager
def _use(target: Cache | _Recorder) -> Iterator[None]:
    token = _running.set(target)
    try:
        yield
    finally:
        _running.reset(token)


def _layers(net: Any, ids: Tensor) -> Sequence[KVSpec]:
    """What each layer keeps of a token."""
    unknown = set(getattr(net.config.get_text_config(), "layer_types", None) or ()) - set(_KINDS)
    if unknown or net._is_stateful:
        raise _OneByOne(f"layers of another kind: {', '.join(sorted(map(str, unknown))) or 'recurrent'}")
    recorder = _Recorder()
    with _use(recorder):
        net(input_ids=ids, use_cache=False)
    layers = sorted(recorder.specs)
    if layers != list(range(net.config.get_text_config().num_hidden_layers)):
        raise _OneByOne("not every layer calls an attention function, once")
    return [recorder.specs[layer] for layer in layers]


def _attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """`query [1, H, T, D]`, `key`, `value` `[1, K, T, D]` -> `[1, T, H, Dv]`."""
    target, layer = _running.get(), int(module.layer_idx)
    if isinstance(target, _Recorder):
        if softcap is not None or layer in target.specs or not getattr(module, "is_causal", True):
            raise _OneByOne("attention that is bounded, computed twice, or sees what follows")
        v_dim = value.shape[-1] if value.shape[-1] != key.shape[-1] else None
        target.specs[layer] = KVSpec(key.shape[1], key.shape[-1], v_dim=v_dim, window=sliding_window)
        return query.new_zeros(1, query.shape[2], query.shape[1], value.shape[-1]), None
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    q, k, v = (x[0].transpose(0, 1).contiguous() for x in (query, key, value))
    return target.attend(layer, q, k, v, scale, s_aux)[None], None


def _compare(expected: Tensor, kv: TorchKVCache | TransformersKVCache, runner: TorchRunner) -> None:
    """Raise unless a prompt and the steps after it give the logits that the library gives in one pass."""
    slot = kv.open(len(PROBE))
    if slot is None:
        return
    found: list[np.ndarray] = []
    try:
        for ids in (PROBE[:3], *([token] for token in PROBE[3:])):
            logits = runner.run([Segment(slot, ids, want=range(len(ids)))]).read()[slot].logits
            assert logits is not None
            found.append(logits)
    finally:
        kv.close(slot)
    difference = np.abs(np.concatenate(found) - expected.float().cpu().numpy()).max()
    if not difference <= (1e-3 if expected.dtype == torch.float32 else 0.1) * float(expected.abs().max()):
        raise _OneByOne(f"logits differ by {difference:.3g}")
