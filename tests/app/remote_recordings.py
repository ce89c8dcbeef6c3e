"""What servers elsewhere send, by the shapes that their public sources write: vLLM, SGLang, llama.cpp, LM Studio, Ollama."""

from __future__ import annotations

from typing import Any

from tests.app.remote_peer import Chunk

_VLLM: dict[str, Any] = {
    "id": "chatcmpl-8f",
    "object": "chat.completion.chunk",
    "created": 1763800000,
    "model": "Qwen/Qwen3-8B",
}
VLLM_MODELS = [
    {"id": "Qwen/Qwen3-8B", "object": "model", "created": 1763800000, "owned_by": "vllm", "root": "Qwen/Qwen3-8B", "parent": None,
     "max_model_len": 40960, "permission": [{"id": "modelperm-1", "object": "model_permission"}]},
    {"id": "openai/whisper-large-v3", "object": "model", "created": 1763800000, "owned_by": "vllm", "max_model_len": 448},
]  # fmt: skip


def _vllm(delta: dict[str, Any], reason: str | None = None, **more: Any) -> Chunk:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason, "token_ids": None, **more}
    return {**_VLLM, "choices": [choice]}


VLLM_USAGE: Chunk = {
    **_VLLM,
    "choices": [],
    "usage": {
        "prompt_tokens": 162,
        "total_tokens": 201,
        "completion_tokens": 39,
        "prompt_tokens_details": {"cached_tokens": 144},
    },
}
VLLM_CALL = [
    {**_VLLM, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None}],
     "prompt_token_ids": None},
    _vllm({"reasoning": "They want"}),
    _vllm({"reasoning": " the weather."}),
    _vllm({"content": "\n\n"}),
    _vllm({"tool_calls": [{"id": "chatcmpl-tool-1a", "type": "function", "index": 0,
                           "function": {"name": "weather", "arguments": ""}}]}),
    _vllm({"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]}),
    _vllm({"tool_calls": [{"index": 0, "function": {"arguments": '"Kyiv"}'}}]}),
    _vllm({"tool_calls": [{"id": "chatcmpl-tool-2b", "type": "function", "index": 1,
                           "function": {"name": "clock", "arguments": "{}"}}]}),
    _vllm({"content": ""}, "tool_calls", stop_reason=None),
    VLLM_USAGE,
]  # fmt: skip
VLLM_STOP = [_vllm({"role": "assistant", "content": ""}), _vllm({"content": "One, two"}), _vllm({"content": ""}, "stop", stop_reason=", three"), VLLM_USAGE]  # fmt: skip
VLLM_SCORED = [
    {**_VLLM, "choices": [{"index": 0, "delta": {"content": "Hé"}, "finish_reason": None, "logprobs": {"content": [
        {"token": "H", "logprob": -0.25, "bytes": [72], "top_logprobs": [
            {"token": "H", "logprob": -0.25, "bytes": [72]}, {"token": "h", "logprob": -2.5, "bytes": [104]}]},
        {"token": "é", "logprob": -0.5, "bytes": [195, 169], "top_logprobs": []}]}}]},
    _vllm({"content": ""}, "stop", stop_reason=None),
]  # fmt: skip
VLLM_CONTEXT = (
    400,
    "application/json",
    b'{"error": {"message": "This model\'s maximum context length is 40960 tokens. However, you requested 50000 tokens.",'
    b' "type": "BadRequestError", "param": null, "code": 400}}',
)
VLLM_BREAKS = [
    _vllm({"role": "assistant", "content": ""}),
    _vllm({"content": "One"}),
    {
        "error": {
            "message": "EngineCore encountered an issue.",
            "type": "InternalServerError",
            "param": None,
            "code": 500,
        }
    },
]

_SGLANG: dict[str, Any] = {
    "id": "0f3c",
    "object": "chat.completion.chunk",
    "created": 1763800000,
    "model": "deepseek-ai/DeepSeek-R1",
}
SGLANG_MODELS = [
    {"id": "deepseek-ai/DeepSeek-R1", "object": "model", "created": 1763800000, "owned_by": "sglang", "root": "deepseek-ai/DeepSeek-R1",
     "max_model_len": 163840},
]  # fmt: skip


def _sglang(delta: dict[str, Any], reason: str | None = None, stop: Any = None) -> Chunk:
    full = {"role": None, "content": None, "reasoning_content": None, "tool_calls": None, **delta}
    choice = {"index": 0, "delta": full, "logprobs": None, "finish_reason": reason, "matched_stop": stop}
    return {**_SGLANG, "choices": [choice], "usage": None}


SGLANG_REPLY = [
    _sglang({"role": "assistant", "content": ""}),
    _sglang({"reasoning_content": "Two and"}),
    _sglang({"reasoning_content": " two."}),
    _sglang({"content": "Fo"}),
    _sglang({"content": "ur."}),
    _sglang({}, "stop", 151645),
    {**_SGLANG, "choices": [], "usage": {"prompt_tokens": 14, "total_tokens": 23, "completion_tokens": 9,
                                         "prompt_tokens_details": None, "reasoning_tokens": 5}},
]  # fmt: skip
SGLANG_CALL = [
    _sglang({"role": "assistant", "content": ""}),
    _sglang({"tool_calls": [{"id": "call_9d", "index": 0, "type": "function",
                             "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}]}),
    _sglang({}, "tool_calls"),
]  # fmt: skip

# Ollama sends a whole call in a chunk, LM Studio numbers none, and some write the reasoning into the answer
OLLAMA_CALLS = [
    {"id": "chatcmpl-5", "object": "chat.completion.chunk", "created": 1, "model": "qwen3", "system_fingerprint": "fp_ollama",
     "choices": [{"index": 0, "delta": {"role": "assistant", "content": "", "tool_calls": [
         {"id": "call_a", "index": 0, "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}]},
         "finish_reason": None}]},
    {"id": "chatcmpl-5", "object": "chat.completion.chunk", "created": 1, "model": "qwen3",
     "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": "tool_calls"}]},
]  # fmt: skip
UNNUMBERED_CALLS = [
    {"choices": [{"index": 0, "delta": {"tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}},
        {"id": "2", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Graz"}'}}]}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]  # fmt: skip
LLAMACPP_MODELS = [
    {"id": "tiny.gguf", "object": "model", "created": 1, "owned_by": "llamacpp",
     "meta": {"vocab_type": 2, "n_vocab": 32000, "n_ctx_train": 4096, "n_embd": 64, "n_params": 1, "size": 1}},
]  # fmt: skip
MLX_COMMENTS: list[Chunk] = [
    ": keepalive 4/9\n\n",
    {
        "choices": [
            {
                "index": 0,
                "delta": {"role": "assistant", "content": "Hello", "reasoning": "", "tool_calls": []},
                "finish_reason": None,
            }
        ]
    },
    ": keepalive 9/9\n\n",
    {
        "choices": [
            {"index": 0, "delta": {"role": "assistant", "content": "", "tool_calls": []}, "finish_reason": "length"}
        ]
    },
]
