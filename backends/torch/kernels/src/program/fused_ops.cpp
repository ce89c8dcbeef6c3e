// Norms, rotary embedding, activations and windowed attention as single calls. Rows are shared among threads where there are enough.
#include <algorithm>

#include "arch/dispatch.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "formats/matrix.hpp"

using namespace grus;

namespace {
constexpr int64_t kFew = 1 << 14;  // numbers that one thread is done with before another has woken
int worth(int64_t numbers, int threads) { return numbers > kFew ? threads : 1; }
}  // namespace

extern "C" {

// Rows of `n`: out = rms_norm(x + residual) * w, and sum = x + residual; without a residual (null) there is no sum.
GRUS_API void grus_rms_norm(const float* x, const float* residual, float* sum, const float* w, float eps, int64_t rows,
                            int64_t n, float* out, int32_t threads) {
    const Tier& tier = current_tier();
    parallel(rows, 1, worth(rows * n, threads), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
            const int64_t at = r * n;
            tier.rms_norm(x + at, residual ? residual + at : nullptr, sum ? sum + at : nullptr, w, eps, n, out + at);
        }
    });
}

GRUS_API void grus_layer_norm(const float* x, const float* w, const float* b, float eps, int64_t rows, int64_t n, float* out,
                              int32_t threads) {
    const Tier& tier = current_tier();
    parallel(rows, 1, worth(rows * n, threads), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) tier.layer_norm(x + r * n, w, b, eps, n, out + r * n);
    });
}

// Queries, keys and values of each row, one head behind the other, into rows of the same: queries and keys normalized and rotary_dim.
GRUS_API void grus_heads(const Heads* h, const float* x, int64_t rows, const float* cos, const float* sin, float* out,
                         int32_t threads) {
    const Tier& tier = current_tier();
    const int64_t n = (h->heads + 2 * h->kv_heads) * h->dim;
    parallel(rows, 1, worth(rows * n, threads), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
            std::copy_n(x + r * n, n, out + r * n);
            tier.heads(*h, out + r * n, h->rotary_dim ? cos + r * h->rotary_dim : nullptr, h->rotary_dim ? sin + r * h->rotary_dim : nullptr);
        }
    });
}

GRUS_API void grus_gelu(const float* x, int64_t n, float* out, int32_t threads) {
    const Tier& tier = current_tier();
    parallel(n, kFew / 16, worth(n, threads), [&](int64_t begin, int64_t end) { tier.gelu(x + begin, end - begin, out + begin); });
}

// Rows of 2n (gate, then up) to rows of n.
GRUS_API void grus_swiglu(const float* x, int64_t rows, int64_t n, float* out, int32_t threads) {
    const Tier& tier = current_tier();
    parallel(rows, 1, worth(rows * n, threads), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) tier.swiglu(x + 2 * r * n, x + (2 * r + 1) * n, n, out + r * n);
    });
}

// The last `queries` of a stream's tokens, each with those before it: `a` as for its first query and its first head; heads lie
// one behind the other.
GRUS_API void grus_attention_window(const AttentionBlock* a, int64_t heads, int64_t kv_heads, int32_t threads) {
    const Tier& tier = current_tier();
    const int64_t tokens = a->past + a->queries, blocks = (a->queries + kRows - 1) / kRows;
    parallel(heads * blocks, 1, worth(heads * a->queries * tokens * a->dim, threads), [&](int64_t begin, int64_t end) {
        static thread_local Scratch scratch;
        float* room = reinterpret_cast<float*>(scratch.at_least(attention_block_scratch(1, std::max(a->dim, a->v_dim)) * 4));
        for (int64_t i = begin; i < end; ++i) {
            const int64_t head = i / blocks, first = i % blocks * kRows, shared = head / (heads / kv_heads);
            AttentionBlock one = *a;
            one.q += first * a->q_token + head * a->dim;
            one.out += first * a->out_token + head * a->v_dim;
            one.k += shared * a->dim;
            one.v += shared * a->v_dim;
            one.queries = std::min<int64_t>(kRows, a->queries - first);
            one.past += first;
            tier.attention_block(one, room);
        }
    });
}

}  // extern "C"
