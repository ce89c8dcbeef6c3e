"""llama.cpp in a process of its own, since its OpenMP and torch's do not get on in one.

quantize SOURCE TARGET NUMBER    write a file in which every matrix has llama.cpp's file type of this number
tokens FILE                      for each text (JSON) on stdin, its token ids (JSON) on stdout
reply FILE                       for each line of token ids (JSON) on stdin, the logits after them (f32) on stdout
see FILE MMPROJ                  the same, behind a first line of a text with places for pictures, and these pictures
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import sys
from typing import Any

import llama_cpp as c
import numpy as np

CONTEXT = 512
SILENT = c.llama_log_callback(lambda *_: None)  # called from C as long as the library lives


def quantize(source: str, target: str, number: str) -> int:
    options = c.llama_model_quantize_default_params()
    options.ftype, options.pure = int(number), True
    return int(c.llama_model_quantize(os.fsencode(source), os.fsencode(target), ctypes.byref(options)))


def tokens(path: str) -> int:
    loading = c.llama_model_default_params()
    loading.vocab_only = True
    model = c.llama_model_load_from_file(os.fsencode(path), loading)
    if not model:
        return 1
    vocab = c.llama_model_get_vocab(model)
    for line in sys.stdin:
        text = json.loads(line).encode()
        found = (c.llama_token * (len(text) + 8))()
        count = c.llama_tokenize(vocab, text, len(text), found, len(found), False, False)
        print(json.dumps(list(found[:count])))
    return 0


def opened(path: str) -> tuple[Any, Any]:
    """A model and its context."""
    loading = c.llama_model_default_params()
    loading.use_extra_bufts = False  # its repacked layouts crash on matrices as small as these
    model = c.llama_model_load_from_file(os.fsencode(path), loading)
    if not model:
        sys.exit(1)
    options = c.llama_context_default_params()
    # one thread: a second one spins between tokens, on the core that the other process computes on
    options.n_ctx, options.n_threads, options.n_threads_batch = CONTEXT, 1, 1
    options.type_k = options.type_v = c.GGML_TYPE_F32  # usually f16, which would be what differs most
    options.flash_attn_type = c.LLAMA_FLASH_ATTN_TYPE_DISABLED
    return model, c.llama_init_from_model(model, options)


def write_logits(model: Any, context: Any) -> None:
    vocab = c.llama_vocab_n_tokens(c.llama_model_get_vocab(model))
    logits = np.ctypeslib.as_array(c.llama_get_logits_ith(context, -1), (vocab,))
    sys.stdout.buffer.write(np.uint32(vocab).tobytes() + logits.tobytes())
    sys.stdout.buffer.flush()


def reply(path: str) -> int:
    model, context = opened(path)
    for line in sys.stdin:
        ids = json.loads(line)
        tokens = (c.llama_token * len(ids))(*ids)
        if c.llama_decode(context, c.llama_batch_get_one(tokens, len(ids))):
            return 1
        write_logits(model, context)
    return 0


def see(path: str, mmproj: str) -> int:
    from llama_cpp import mtmd_cpp as m

    m.mtmd_log_set(SILENT, ctypes.c_void_p(0))
    m.mtmd_helper_log_set(SILENT, ctypes.c_void_p(0))
    model, context = opened(path)
    options = m.mtmd_context_params_default()
    options.use_gpu, options.warmup, options.n_threads = False, False, 1
    options.flash_attn_type = c.LLAMA_FLASH_ATTN_TYPE_DISABLED
    sight = m.mtmd_init_from_file(os.fsencode(mmproj), model, options)
    if not sight:
        return 1
    asked = json.loads(sys.stdin.readline())
    given, text = [], asked["text"].encode()
    for width, height, data in asked["pictures"]:
        pixels = base64.b64decode(data)
        given.append(m.mtmd_bitmap_init(width, height, (ctypes.c_uint8 * len(pixels)).from_buffer_copy(pixels)))
    chunks, shown = m.mtmd_input_chunks_init(), m.mtmd_input_text(text, len(text), False, True)
    bitmaps = (m.mtmd_bitmap_p_ctypes * len(given))(*given)
    if m.mtmd_tokenize(sight, chunks, ctypes.byref(shown), bitmaps, len(given)):
        return 1
    past = c.llama_pos(0)
    if m.mtmd_helper_eval_chunks(sight, context, chunks, 0, 0, CONTEXT, True, ctypes.byref(past)):
        return 1
    write_logits(model, context)
    batch = c.llama_batch_init(1, 0, 1)
    for line in sys.stdin:
        (batch.token[0],) = json.loads(line)
        batch.n_tokens, batch.pos[0], batch.n_seq_id[0], batch.seq_id[0][0], batch.logits[0] = 1, past.value, 1, 0, True
        past.value += 1
        if c.llama_decode(context, batch):
            return 1
        write_logits(model, context)
    return 0


if __name__ == "__main__":
    c.llama_log_set(SILENT, ctypes.c_void_p(0))
    c.llama_backend_init()
    sys.exit({"quantize": quantize, "tokens": tokens, "reply": reply, "see": see}[sys.argv[1]](*sys.argv[2:]))
