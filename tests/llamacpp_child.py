"""llama.cpp in a process of its own, since its OpenMP and torch's do not get on in one.

quantize SOURCE TARGET NUMBER    write a file in which every matrix has llama.cpp's file type of this number
tokens FILE                      for each text (JSON) on stdin, its token ids (JSON) on stdout
reply FILE                       for each line of token ids (JSON) on stdin, the logits after them (f32) on stdout
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

import llama_cpp as c
import numpy as np

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


def reply(path: str) -> int:
    loading = c.llama_model_default_params()
    loading.use_extra_bufts = False  # its repacked layouts crash on matrices as small as these
    model = c.llama_model_load_from_file(os.fsencode(path), loading)
    if not model:
        return 1
    options = c.llama_context_default_params()
    # one thread: a second one spins between tokens, on the core that the other process computes on
    options.n_ctx, options.n_threads, options.n_threads_batch = 256, 1, 1
    options.type_k = options.type_v = c.GGML_TYPE_F32  # usually f16, which would be what differs most
    options.flash_attn_type = c.LLAMA_FLASH_ATTN_TYPE_DISABLED
    context = c.llama_init_from_model(model, options)
    vocab = c.llama_vocab_n_tokens(c.llama_model_get_vocab(model))
    for line in sys.stdin:
        ids = json.loads(line)
        tokens = (c.llama_token * len(ids))(*ids)
        if c.llama_decode(context, c.llama_batch_get_one(tokens, len(ids))):
            return 1
        logits = np.ctypeslib.as_array(c.llama_get_logits_ith(context, -1), (vocab,))
        sys.stdout.buffer.write(np.uint32(vocab).tobytes() + logits.tobytes())
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    c.llama_log_set(SILENT, ctypes.c_void_p(0))
    c.llama_backend_init()
    sys.exit({"quantize": quantize, "tokens": tokens, "reply": reply}[sys.argv[1]](*sys.argv[2:]))
