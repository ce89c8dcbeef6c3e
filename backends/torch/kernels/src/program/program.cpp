// Runs a program (a pass through a model's layers) instruction by instruction, and splits each among the threads of the pool. The
// kernels of the tier do the arithmetic.
#include "program/program.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "arch/dispatch.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "matmul/matmul.hpp"

namespace grus {
namespace {

constexpr int64_t kFewProducts = 1 << 14;  // the same of a product's multiplications
constexpr int64_t kFew = 1 << 13;  // numbers that one thread is done with before another has begun

struct Runner {
    const ProgramStep& step;
    const Tier& tier;
    int threads;

    float* row(int32_t index, int64_t token) const { return step.registers[index] + token * step.widths[index]; }
    int64_t width(int32_t index) const { return step.widths[index]; }
    // Keys (0) or values (1) of a head, of which there is room for `capacity`.
    KVRows memory(const Instruction& i, int64_t segment, int which, int64_t head, int64_t capacity) const {
        uint8_t* const* lies = step.memory + (i.layer * step.segment_count + segment) * 4;
        return KVRows{i.kv_dtype, i.dim, i.group, lies[which], lies[2 + which]}.from(head * (i.rows ? std::min(i.rows, capacity) : capacity));
    }

    int64_t segment_of(int64_t token) const {
        return std::upper_bound(step.segments, step.segments + step.segment_count, token,
                                [](int64_t at, const ProgramSegment& s) { return at < s.start; }) - step.segments - 1;
    }

    template <class F>
    void each_token(int64_t numbers, const F& body) const {
        parallel(step.tokens, 1, numbers * step.tokens > kFew ? threads : 1, [&](int64_t begin, int64_t end) {
            for (int64_t t = begin; t < end; ++t) body(t);
        });
    }

    void heads(const Instruction& i) const {
        const Heads h{i.heads, i.kv_heads, i.dim, i.w, i.w2, i.eps, i.rotary_dim, i.pairs != 0, i.norm_after_rope != 0};
        const float* const* angles = i.rotary_dim ? step.angles + 2 * i.angles : nullptr;
        each_token(width(i.in), [&](int64_t t) {
            float* x = row(i.in, t);
            tier.heads(h, x, angles ? angles[0] + t * i.rotary_dim : nullptr, angles ? angles[1] + t * i.rotary_dim : nullptr);
            if (i.layer < 0) return;
            const int64_t s = segment_of(t);
            const ProgramSegment& segment = step.segments[s];
            for (int which = 0; which < 2; ++which) {
                const float* from = x + (i.heads + which * i.kv_heads) * i.dim;
                for (int64_t h = 0; h < i.kv_heads; ++h)
                    tier.store_kv(from + h * i.dim, memory(i, s, which, h, segment.capacity).from(segment.past + t - segment.start));
            }
        });
    }

    // A task of attention: sixteen tokens with one head, or one token with all heads of one key head.
    struct AttentionTask { int64_t segment, first, head; };

    void attention(const Instruction& i) const {
        static thread_local std::vector<AttentionTask> tasks;
        tasks.clear();
        int64_t longest = 0, numbers = 0;
        for (int64_t s = 0; s < step.segment_count; ++s) {
            const ProgramSegment& segment = step.segments[s];
            longest = std::max(longest, segment.past + segment.count);
            numbers += segment.count * (segment.past + segment.count) * i.heads * i.dim;
            // the last tokens see most: the largest tasks come first
            for (int64_t first = (segment.count - 1) / kRows * kRows; first >= 0; first -= kRows)
                for (int64_t head = 0; head < (segment.count == 1 ? i.kv_heads : i.heads); ++head) tasks.push_back({s, first, head});
        }
        if (i.window) longest = std::min(longest, i.window + kRows);
        const std::vector<AttentionTask>& all = tasks;  // of this thread, for all threads
        const int64_t made = i.kv_dtype == KVDtype::F32 ? 0 : 2 * longest * i.dim;  // floats of what is kept otherwise
        const int64_t room = std::max(attention_block_scratch(i.dim, longest) + made, decode_attention_scratch(i.heads / i.kv_heads, longest, i.dim));
        parallel(static_cast<int64_t>(all.size()), 1, numbers > 2 * kFew ? threads : 1, [&](int64_t begin, int64_t end) {
            static thread_local Scratch scratch;
            float* memory = reinterpret_cast<float*>(scratch.at_least(room * 4));
            for (int64_t p = begin; p < end; ++p) run_task(i, all[static_cast<size_t>(p)], memory);
        });
    }

    void run_task(const Instruction& i, const AttentionTask& task, float* scratch) const {
        const ProgramSegment& segment = step.segments[task.segment];
        const int64_t token = segment.start + task.first, past = segment.past + task.first, group = i.heads / i.kv_heads;
        const int64_t shared = segment.count == 1 ? task.head : task.head / group;
        const int64_t low = i.window && past + 1 > i.window ? past + 1 - i.window : 0;  // the first that is seen
        const KVRows k = memory(i, task.segment, 0, shared, segment.capacity).from(low);
        const KVRows v = memory(i, task.segment, 1, shared, segment.capacity).from(low);
        if (segment.count == 1) {
            const int64_t at = task.head * group * i.dim;
            tier.decode_attention({row(i.in, token) + at, k, v, past + 1 - low, group, i.dim, i.scale, row(i.out, token) + at, tier.ahead}, scratch);
            return;
        }
        const int64_t queries = std::min<int64_t>(kRows, segment.count - task.first), seen = past + queries - low;
        float* made = scratch + attention_block_scratch(i.dim, seen);
        const AttentionBlock block{row(i.in, token) + task.head * i.dim, width(i.in), floats_of(k, seen, made),
                                floats_of(v, seen, made + seen * i.dim), i.dim, i.dim, i.dim, i.dim, queries, past - low,
                                i.window, 0, past - low + kRows, i.scale, row(i.out, token) + task.head * i.dim, width(i.out)};
        tier.attention_block(block, scratch);
    }

    const float* floats_of(const KVRows& rows, int64_t count, float* room) const {
        if (rows.floats()) return rows.floats();
        tier.load_kv(rows, count, room);
        return room;
    }

    // Of every token with those of its own sequence, on both sides: sixteen tokens with one head at a time. Keys and values lie
    // beside the queries.
    void encoder_attention(const Instruction& i) const {
        static thread_local std::vector<AttentionTask> tasks;
        tasks.clear();
        int64_t longest = 0;
        for (int64_t s = 0; s < step.segment_count; ++s) {
            longest = std::max(longest, step.segments[s].count);
            for (int64_t head = 0; head < i.heads; ++head)
                for (int64_t first = 0; first < step.segments[s].count; first += kRows) tasks.push_back({s, first, head});
        }
        const std::vector<AttentionTask>& all = tasks;
        const int64_t room = attention_block_scratch(i.dim, longest), stride = width(i.in);
        parallel(static_cast<int64_t>(all.size()), 1, threads, [&](int64_t begin, int64_t end) {
            static thread_local Scratch scratch;
            float* memory = reinterpret_cast<float*>(scratch.at_least(room * 4));
            for (int64_t p = begin; p < end; ++p) {
                const auto& [at, first, head] = all[static_cast<size_t>(p)];
                const ProgramSegment& segment = step.segments[at];
                const float *x = row(i.in, segment.start), *k = x + (i.heads + head / (i.heads / i.kv_heads)) * i.dim;
                const AttentionBlock block{x + first * stride + head * i.dim, stride, k, k + i.kv_heads * i.dim, stride, stride,
                                        i.dim, i.dim, std::min<int64_t>(kRows, segment.count - first), first, i.window, i.ahead,
                                        segment.count, i.scale, row(i.out, segment.start + first) + head * i.dim, width(i.out)};
                tier.attention_block(block, memory);
            }
        });
    }

    // Of every token with all that its sequence's encoder has made: one token with the heads of one key head at a time.
    void cross_attention(const Instruction& i) const {
        int64_t longest = 0, numbers = 0;
        for (int64_t s = 0; s < step.segment_count; ++s) {
            longest = std::max(longest, step.segments[s].encoder_length);
            numbers += step.segments[s].count * step.segments[s].encoder_length * i.heads * i.dim;
        }
        const int64_t group = i.heads / i.kv_heads, room = decode_attention_scratch(group, longest, i.dim);
        parallel(step.tokens * i.kv_heads, 1, numbers > 2 * kFew ? threads : 1, [&](int64_t begin, int64_t end) {
            static thread_local Scratch scratch;
            float* memory_of_thread = reinterpret_cast<float*>(scratch.at_least(room * 4));
            for (int64_t p = begin; p < end; ++p) {
                const int64_t t = p / i.kv_heads, head = p % i.kv_heads, s = segment_of(t), encoder_length = step.segments[s].encoder_length;
                const int64_t at = head * group * i.dim;
                tier.decode_attention({row(i.in, t) + at, memory(i, s, 0, head, encoder_length), memory(i, s, 1, head, encoder_length), encoder_length, group, i.dim,
                             i.scale, row(i.out, t) + at, tier.ahead}, memory_of_thread);
            }
        });
    }

    // Adds what adapters add to a product, which lies in `out` from column `at` on. Many runs are shared among the threads; of few
    // the products are.
    void low_rank(const Instruction& i) const {
        int64_t numbers = 0, end_of_last = 0;
        bool apart = step.run_count >= threads;  // and no token is in two
        for (int64_t r = 0; r < step.run_count; ++r) {
            apart = apart && step.runs[r].start >= end_of_last;
            end_of_last = step.runs[r].start + step.runs[r].count;
            if (const auto [a, b] = i.sides[step.runs[r].adapter]; a) numbers += step.runs[r].count * a->rows * (a->columns + b->rows);
        }
        const int most = numbers > kFewProducts ? threads : 1;
        parallel(step.run_count, 1, apart ? most : 1, [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) low_rank_of(i, step.runs[r], apart ? 1 : most);
        });
    }

    void low_rank_of(const Instruction& i, const AdapterRun& run, int most) const {
        static thread_local Scratch scratch;
        const auto [a, b] = i.sides[run.adapter];
        if (!a) return;
        float* inner = reinterpret_cast<float*>(scratch.at_least(run.count * (a->rows + b->rows) * 4));
        float* made = inner + run.count * a->rows;
        multiply(*a, row(i.in, run.start), run.count, width(i.in), inner, a->rows, most);
        multiply(*b, inner, run.count, a->rows, made, b->rows, most);
        for (int64_t t = 0; t < run.count; ++t) {
            float* out = row(i.out, run.start + t) + i.at;
            for (int64_t c = 0; c < b->rows; ++c) out[c] += made[t * b->rows + c];
        }
    }

    void run(const Instruction& i) const {
        const int64_t n = i.opcode == Opcode::Swiglu || i.opcode == Opcode::Geglu ? width(i.out) : width(i.in);
        switch (i.opcode) {
            case Opcode::Multiply:
                multiply(*i.matrix, row(i.in, 0), step.tokens, n, row(i.out, 0) + i.at, width(i.out), threads);
                return;
            case Opcode::Gate:
                multiply_gated(*i.matrix, i.up, row(i.in, 0), step.tokens, n, row(i.out, 0), width(i.out), threads);
                return;
            case Opcode::Norm:
                each_token(n, [&](int64_t t) {
                    tier.rms_norm(row(i.in, t), nullptr, nullptr, i.w, i.eps, n, row(i.out, t));
                });
                return;
            case Opcode::AddNorm:
                each_token(n, [&](int64_t t) {
                    tier.rms_norm(row(i.in, t), row(i.other, t), row(i.sum, t), i.w, i.eps, n, row(i.out, t));
                });
                return;
            case Opcode::Heads: heads(i); return;
            case Opcode::Attention: attention(i); return;
            case Opcode::Swiglu:
                each_token(n, [&](int64_t t) {
                    const float* x = row(i.in, t);
                    tier.swiglu(x + i.at, x + n - i.at, n, row(i.out, t));
                });
                return;
            case Opcode::Geglu:
                each_token(n, [&](int64_t t) { tier.geglu(row(i.in, t), row(i.in, t) + n, n, row(i.out, t)); });
                return;
            case Opcode::LayerNorm:
                each_token(n, [&](int64_t t) { tier.layer_norm(row(i.in, t), i.w, i.w2, i.eps, n, row(i.out, t)); });
                return;
            case Opcode::LowRank: low_rank(i); return;
            case Opcode::CrossAttention: cross_attention(i); return;
            case Opcode::EncoderAttention: encoder_attention(i); return;
            case Opcode::Gelu:
                each_token(n, [&](int64_t t) { tier.gelu(row(i.in, t), n, row(i.out, t)); });
                return;
            case Opcode::Add:
                each_token(n, [&](int64_t t) {
                    const float *a = row(i.in, t), *b = row(i.other, t);
                    float* out = row(i.out, t);
                    for (int64_t c = 0; c < n; ++c) out[c] = a[c] + b[c];
                });
                return;
        }
    }
};

}  // namespace
}  // namespace grus

using namespace grus;

extern "C" {

GRUS_API void grus_run_program(const ProgramStep* step, int32_t threads) {
    const Runner runner{*step, current_tier(), threads};
    for (int64_t at = 0; at < step->length; ++at) runner.run(step->code[at]);
}

}  // extern "C"
