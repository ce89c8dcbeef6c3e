// ik_llama.cpp as a library for ik.py: its structures differ from llama.cpp's, so they are filled here, against its own headers.
#include "llama.h"

namespace {
struct Conversation {
    llama_context* context;
    llama_batch batch;
};
void silent(ggml_log_level, const char*, void*) {}
}  // namespace

extern "C" {

// Weights are rearranged for its kernels (-rtr), as it needs for its best rates.
void* ik_open(const char* path) {
    llama_log_set(silent, nullptr);
    llama_backend_init();
    llama_model_params given = llama_model_default_params();
    given.repack_tensors = true;
    given.use_mmap = false;
    given.use_thp = true;
    return llama_model_load_from_file(path, given);
}

int ik_vocab(void* model) { return llama_n_vocab(static_cast<llama_model*>(model)); }

// Keys and values in half precision, flash attention, fused experts: its defaults.
void* ik_begin(void* model, int threads, int capacity, int piece) {
    llama_context_params given = llama_context_default_params();
    given.n_ctx = static_cast<uint32_t>(capacity);
    given.n_batch = given.n_ubatch = static_cast<uint32_t>(piece);
    given.n_threads = given.n_threads_batch = static_cast<uint32_t>(threads);
    llama_context* context = llama_init_from_model(static_cast<llama_model*>(model), given);
    return context ? new Conversation{context, llama_batch_init(piece, 0, 1)} : nullptr;
}

// Reads `count` tokens, no more than a piece, that begin at `at`. Logits are made of the last one. Returns 0.
int ik_read(void* conversation, const int* ids, int count, int at) {
    auto* mine = static_cast<Conversation*>(conversation);
    llama_batch& batch = mine->batch;
    batch.n_tokens = count;
    for (int i = 0; i < count; ++i) {
        batch.token[i] = ids[i];
        batch.pos[i] = at + i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = i + 1 == count;
    }
    const int failed = llama_decode(mine->context, batch);
    llama_synchronize(mine->context);
    return failed;
}

// A conversation's state: its tokens' keys and values, and what recurrent layers keep. `to` is null: only its size.
size_t ik_state(void* conversation, uint8_t* to, size_t size) {
    llama_context* context = static_cast<Conversation*>(conversation)->context;
    return to ? llama_state_seq_get_data(context, to, size, 0, 0) : llama_state_seq_get_size(context, 0, 0);
}

// Returns 0 if the state was not taken.
size_t ik_restore(void* conversation, const uint8_t* state, size_t size) {
    return llama_state_seq_set_data(static_cast<Conversation*>(conversation)->context, state, size, 0, 0);
}

void ik_forget(void* conversation) { llama_kv_cache_clear(static_cast<Conversation*>(conversation)->context); }

}  // extern "C"
