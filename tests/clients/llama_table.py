"""Which of llama.cpp's tests of its server do not apply to ours, and why. All others apply, and must pass.

A key is a file, a test, or one case of a test. `python -m tests.clients.llama_table` runs those that apply and prints the counts.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

_SLOTS = "llama.cpp's slots: requests here have no place of their own"
_VERBOSE = "the debug object `__verbose`: /apply-template returns the prompt"
_TELEMETRY = "llama.cpp's progress and timings in each event: `x-grus-timings` has ours"
_SAMPLERS = "llama.cpp's chain of samplers: probabilities after it, biases that it reports"
_SERVER_OPTION = "an option of the whole server: a field of each request here"
_OBJECTS = "llama.cpp's objects and mixed lists as input: OpenAI's are texts, or tokens"
_IMAGES = "images in a prompt without a chat template by llama.cpp's markers"
_POOLING = "llama.cpp's pooling by an option: a model's own is used"
_METRICS = "the names of llama.cpp's metrics: /metrics has Grus's"
_WINDOW = "llama.cpp's web page: Grus has a window"
_RERANKER = "no reranker can be loaded here"
_HUB = "a model of the Hugging Face Hub"

NOT_HERE = {
    "test_basic.py::test_server_multiple_addresses": "the server listens on one address",
    "test_basic.py::test_server_props": f"{_SLOTS}; the path of a model's file is not told",
    "test_basic.py::test_server_slots": _SLOTS,
    "test_basic.py::test_load_split_model": _HUB,
    "test_basic.py::test_no_ui": _WINDOW,
    "test_basic.py::test_server_model_aliases_and_tags": "tags of a model; `--alias` names another way",
    "test_chat_completion.py::test_chat_template": _VERBOSE,
    "test_chat_completion.py::test_chat_template_assistant_prefill": _VERBOSE,
    "test_chat_completion.py::test_chat_template_continue_final_message_vllm_compat": _VERBOSE,
    "test_chat_completion.py::test_apply_chat_template": "a template that is named: a model has its own here",
    "test_chat_completion.py::test_invalid_chat_completion_req[messages7]": "two messages of the assistant in turn are no error in OpenAI's API",
    "test_chat_completion.py::test_chat_completion_with_timings_per_token": _TELEMETRY,
    "test_chat_completion.py::test_return_progress": _TELEMETRY,
    "test_chat_completion.py::test_verbose_debug": _VERBOSE,
    "test_compat_anthropic.py::test_anthropic_empty_messages": "Anthropic's API refuses an empty conversation",
    "test_compat_gcp.py": "the form of requests of Google's Vertex AI",
    "test_compat_oai_responses.py::test_responses_stream_with_llama_telemetry": _TELEMETRY,
    "test_completion.py::test_cache_vs_nocache_prompt": "skipped by llama.cpp too",
    "test_completion.py::test_n_probs_post_sampling": _SAMPLERS,
    "test_completion.py::test_n_probs_post_backend_sampling": _SAMPLERS,
    "test_completion.py::test_cancel_request": _SLOTS,
    "test_ctx_shift.py::test_ctx_shift_enabled": "shifting the context: a reply ends at the context's end here",
    "test_embedding.py::test_embedding_mixed_input[input3-False]": _OBJECTS,
    "test_embedding.py::test_embedding_mixed_input[input5-True]": _OBJECTS,
    "test_embedding.py::test_embedding_mixed_input[input7-True]": _OBJECTS,
    "test_embedding.py::test_embedding_mixed_input[input8-False]": _OBJECTS,
    "test_embedding.py::test_embedding_mixed_input[input9-False]": _OBJECTS,
    "test_embedding.py::test_embedding_mixed_input[input10-True]": _OBJECTS,
    "test_embedding.py::test_embedding_content_text_same_as_string": _OBJECTS,
    "test_embedding.py::test_embedding_pooling_none": _POOLING,
    "test_embedding.py::test_embedding_pooling_none_oai": _POOLING,
    "test_ignore_eos.py": _SAMPLERS,
    "test_infill.py::test_with_qwen_model": _HUB,
    "test_kv_keep_only_active.py": _SLOTS,
    "test_lora.py": "adapters that are changed while the server runs",
    "test_mcp_servers.py": "tools that llama.cpp's server runs itself",
    "test_metrics.py::test_metrics_disabled": _METRICS,
    "test_metrics.py::test_metrics_prometheus_format": _METRICS,
    "test_metrics.py::test_metrics_prompt_processed_and_cached": _METRICS,
    "test_metrics.py::test_metrics_predicted_total_matches_requests": _METRICS,
    "test_metrics.py::test_metrics_timings_on_prompt_progress": _TELEMETRY,
    "test_metrics.py::test_metrics_slots_idle_after_completion": _SLOTS,
    "test_metrics.py::test_metrics_embedding_prompt_is_counted": _METRICS,
    "test_proxy.py": "llama.cpp's proxy for its web page",
    "test_rerank.py": _RERANKER,
    "test_router.py": "llama.cpp's router of several processes: one process serves all models here",
    "test_security.py::test_access_static_assets_without_api_key": _WINDOW,
    "test_security.py::test_cors_options[origin-Access-Control-Allow-Credentials-true]": "nothing here depends on a browser's cookies",
    "test_security.py::test_cors_options[web.mydomain.fr-Access-Control-Allow-Headers-*]": "the headers that are asked for are named: `*` leaves out Authorization",
    "test_security.py::test_cors_origins_defaults_to_localhost_with_tools_enabled": "tools that llama.cpp's server runs itself",
    "test_security.py::test_cors_proxy_only_forwards_explicit_proxy_headers": "llama.cpp's proxy for its web page",
    "test_security.py::test_local_media_file[../../../tools-file://mtmd/test-1.jpeg-True]": "files of the server's machine are never read",
    "test_security.py::test_local_media_file[../../../tools-file:////mtmd//test-1.jpeg-True]": "files of the server's machine are never read",
    "test_sleep.py": "a server that sleeps: `--idle-ttl` unloads a model",
    "test_slot_save.py": _SLOTS,
    "test_speculative.py": "llama.cpp's options of drafts, on models of the Hugging Face Hub",
    "test_stream.py": "streams that a client takes up again, by llama.cpp's router",
    "test_template.py::test_date_inside_prompt": "llama.cpp gives templates the date; `chat_template_kwargs` does here",
    "test_tools_builtin.py": "tools that llama.cpp's server runs itself",
    "test_vision_api.py::test_models_supports_multimodal_capability": "llama.cpp's list of models: /api/show has the capabilities",
    "test_vision_api.py::test_v1_models_supports_multimodal_capability": "llama.cpp's list of models: /api/show has the capabilities",
    "test_vision_api.py::test_vision_completion": _IMAGES,
    "test_vision_api.py::test_vision_embeddings": _IMAGES,
    "test_vision_api.py::test_vision_embeddings_oai_content": _IMAGES,
}


def reason(name: str) -> str:
    """Why a test (`file.py::test[case]`) does not apply; empty where it does."""
    file, test = name.partition("::")[0], name.partition("[")[0]
    return next((NOT_HERE[key] for key in (name, test, file) if key in NOT_HERE), "")


def counts(names: list[str]) -> dict[str, tuple[int, int]]:
    """Of each file, how many tests there are, and how many apply."""
    every = Counter(name.partition("::")[0] for name in names)
    apply = Counter(name.partition("::")[0] for name in names if not reason(name))
    return {file: (count, apply[file]) for file, count in sorted(every.items())}


def main() -> None:
    from tests.clients import llama_server

    with tempfile.TemporaryDirectory() as folder:
        ran, names = llama_server.run(Path(folder))
    for file, (count, apply) in counts(names).items():
        passed = sum(not problem for name, problem in ran.items() if name.startswith(f"{file}::"))
        print(f"{file}: {passed} of {apply} pass, {count - apply} do not apply")
    for name, problem in ran.items():
        if problem:
            print(f"{name}\n{problem}")
    sys.exit(any(ran.values()))


if __name__ == "__main__":
    main()
