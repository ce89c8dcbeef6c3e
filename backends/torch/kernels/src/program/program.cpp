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

extern "C" {
GRUS_API void grus_rows(const GrusMatrix* m, const int64_t* ids, int64_t n, float* out, int32_t threads);
}

namespace grus {
namespace {

constexpr int64_t kFewProducts = 1 << 14;  // the same of a product's multiplications
constexpr int64_t kFew = 1 << 13;  // numbers that one thread is done with before another has begun
constexpr int64_t kFewQueries = 8;  // tokens of a sequence, drafts among them
constexpr int64_t kConvChunk = 256;  // channels of a task; weights lie so (program.py)

struct Runner {
    const ProgramStep& step;
    const Tier& tier;
    int threads;

    float* row(int32_t index, int64_t token) const { return step.registers[index] + token * step.widths[index]; }
    int64_t width(int32_t index) const { return step.widths[index]; }
    // What an instruction reads first, and what it reads beside it: where it begins.
    const float* in(const Instruction& i, int64_t token) const { return row(i.in, token) + i.views[0].at; }
    const float* other(const Instruction& i, int64_t token) const { return row(i.other, token) + i.views[1].at; }
    float* at(const RegisterView& v, int64_t token) const { return row(static_cast<int32_t>(v.index), token) + v.at; }
    int64_t stride(const RegisterView& v) const { return width(static_cast<int32_t>(v.index)); }
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
        each_token(width(i.out), [&](int64_t t) {
            float* x = row(i.out, t);
            if (i.in != i.out) std::copy_n(in(i, t), width(i.out), x);
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

    void store(const Instruction& i) const {
        each_token(2 * i.kv_heads * i.dim, [&](int64_t t) {
            const int64_t s = segment_of(t);
            const ProgramSegment& segment = step.segments[s];
            for (int which = 0; which < 2 && i.views[which].index >= 0; ++which) {
                const float* from = at(i.views[which], t);
                for (int64_t h = 0; h < i.kv_heads; ++h)
                    tier.store_kv(from + h * i.views[which].apart, memory(i, s, which, h, segment.capacity).from(segment.past + t - segment.start));
            }
        });
    }

    // A task of attention: sixteen tokens, or one of few, with heads of one key head, all or some; `head`: the how manieth such task of the tokens.
    struct AttentionTask { int64_t segment, first, head; };

    // Whether each token attends alone, as in a decode step, whose bits it gets so. Sixteen lanes take as long for two tokens as for sixteen.
    static bool is_few(const ProgramSegment& segment) { return segment.count <= kFewQueries; }

    // How many of `group` heads that share a key head one task takes, of `blocks` times sixteen tokens: a few, and all threads have some.
    int64_t heads_of_a_task(int64_t group, int64_t blocks, int64_t kv_heads) const {
        int64_t some = std::min(group, kMostHeads);
        while (some > 1 && (group % some || blocks * kv_heads * (group / some) < threads)) --some;
        return some;
    }

    void attention(const Instruction& i) const {
        static thread_local std::vector<AttentionTask> tasks;
        tasks.clear();
        int64_t longest = 0, numbers = 0, singles = 0, blocks = 0;
        for (int64_t s = 0; s < step.segment_count; ++s) {
            if (is_few(step.segments[s])) singles += step.segments[s].count;
            else blocks += (step.segments[s].count + kRows - 1) / kRows;
        }
        int64_t parts = 1;  // of the heads that share a key head: as many as give each thread one
        const int64_t group = i.heads / i.kv_heads;
        while (parts < group && (singles * i.kv_heads * parts < threads || group % parts)) ++parts;
        const int64_t some = heads_of_a_task(group, blocks, i.kv_heads);
        for (int64_t s = 0; s < step.segment_count; ++s) {
            const ProgramSegment& segment = step.segments[s];
            longest = std::max(longest, segment.past + segment.count);
            numbers += segment.count * (segment.past + segment.count) * i.heads * i.dim;
            // the last tokens see most: the largest tasks come first
            const int64_t each = is_few(segment) ? 1 : kRows;
            for (int64_t first = (segment.count - 1) / each * each; first >= 0; first -= each)
                for (int64_t head = 0; head < (is_few(segment) ? i.kv_heads * parts : i.heads / some); ++head) tasks.push_back({s, first, head});
        }
        if (i.window) longest = std::min(longest, i.window + kRows);
        const std::vector<AttentionTask>& all = tasks;  // of this thread, for all threads
        const int64_t room = std::max(attention_block_scratch(some, i.dim), decode_attention_scratch(group / parts, longest, i.dim));
        parallel(static_cast<int64_t>(all.size()), 1, numbers > 2 * kFew ? threads : 1, [&](int64_t begin, int64_t end) {
            static thread_local Scratch scratch;
            float* memory = reinterpret_cast<float*>(scratch.at_least(room * 4));
            for (int64_t p = begin; p < end; ++p) {
                const AttentionTask& task = all[static_cast<size_t>(p)];
                run_task(i, task, is_few(step.segments[task.segment]) ? group / parts : some, memory);
            }
        });
    }

    // `some`: heads of the task.
    void run_task(const Instruction& i, const AttentionTask& task, int64_t some, float* scratch) const {
        const ProgramSegment& segment = step.segments[task.segment];
        const int64_t token = segment.start + task.first, past = segment.past + task.first, group = i.heads / i.kv_heads;
        const int64_t head = task.head * some, shared = head / group, at = head * i.dim;
        const float* sink = i.w ? i.w + head : nullptr;
        const int64_t low = i.window && past + 1 > i.window ? past + 1 - i.window : 0;  // the first that is seen
        const KVRows k = memory(i, task.segment, 0, shared, segment.capacity).from(low);
        const KVRows v = memory(i, task.segment, i.latent ? 0 : 1, shared, segment.capacity).from(low);
        if (is_few(segment)) {
            tier.decode_attention({in(i, token) + at, k, v, past + 1 - low, some, i.dim, i.scale, row(i.out, token) + at, tier.ahead, tier.kv_near, sink}, scratch);
            return;
        }
        const int64_t queries = std::min<int64_t>(kRows, segment.count - task.first);
        const AttentionBlock block{in(i, token) + at, width(i.in), nullptr, nullptr, i.dim, i.dim, i.dim, i.dim, queries, past - low,
                                i.window, 0, past - low + kRows, i.scale, row(i.out, token) + at, width(i.out), sink, some, &k, &v};
        tier.attention_block(block, scratch);
    }

    // A task of an encoder's attention: `count` tokens from `first` on with one head.
    struct HeadTask { int64_t segment, head, first, count; };

    // Of every token with those of its own sequence, on both sides. Keys and values lie beside the queries, so far apart that all rows of a
    // head would want the same few places of a cache: each task brings those of its head together first. `kv_dtype`: whether these, and
    // queries, may be rounded to bf16.
    void encoder_attention(const Instruction& i) const {
        static thread_local std::vector<HeadTask> tasks;
        tasks.clear();
        int64_t longest = 0, blocks = 0;
        for (int64_t s = 0; s < step.segment_count; ++s) {
            longest = std::max(longest, step.segments[s].count);
            blocks += (step.segments[s].count + kRows - 1) / kRows;
        }
        const int64_t most = std::max<int64_t>(blocks * i.heads / (4 * threads), 1) * kRows;  // of a task: some for each thread
        for (int64_t s = 0; s < step.segment_count; ++s)
            for (int64_t head = 0; head < i.heads; ++head)
                for (int64_t first = 0; first < step.segments[s].count; first += most)
                    tasks.push_back({s, head, first, std::min(most, step.segments[s].count - first)});
        const std::vector<HeadTask>& all = tasks;
        const bool halves = i.kv_dtype == KVDtype::BF16 && tier.bf16_attention && !i.w && i.dim % 2 == 0;
        parallel(static_cast<int64_t>(all.size()), 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t p = begin; p < end; ++p) halves ? attend_in_bf16(i, all[static_cast<size_t>(p)]) : attend_in_floats(i, all[static_cast<size_t>(p)]);
        });
    }

    // The keys of a task's head; its values lie behind all heads' keys.
    const float* keys_of(const Instruction& i, const HeadTask& task) const {
        return row(i.in, step.segments[task.segment].start) + (i.heads + task.head / (i.heads / i.kv_heads)) * i.dim;
    }

    void attend_in_floats(const Instruction& i, const HeadTask& task) const {
        static thread_local Scratch scratch;
        const auto& [at, head, first, count] = task;
        const ProgramSegment& segment = step.segments[at];
        const int64_t room = attention_block_scratch(1, i.dim), stride = width(i.in), dim = i.dim;
        const int64_t low = i.window ? std::max<int64_t>(first + 1 - i.window, 0) : 0;
        const int64_t high = std::min(segment.count, first + count + i.ahead);
        float* memory = reinterpret_cast<float*>(scratch.at_least((room + 2 * (high - low) * dim) * 4));
        float *k = memory + room, *v = k + (high - low) * dim;
        const float *x = row(i.in, segment.start), *keys = keys_of(i, task);
        for (int64_t t = low; t < high; ++t) {
            std::copy_n(keys + t * stride, dim, k + (t - low) * dim);
            std::copy_n(keys + i.kv_heads * dim + t * stride, dim, v + (t - low) * dim);
        }
        for (int64_t t = first; t < first + count; t += kRows) {
            const AttentionBlock block{x + t * stride + head * dim, stride, k, v, dim, dim, dim, dim,
                                       std::min<int64_t>(kRows, first + count - t), t - low, i.window, i.ahead, high - low, i.scale,
                                       row(i.out, segment.start + t) + head * dim, width(i.out), nullptr, 1, nullptr, nullptr, distances_of(i, head)};
            tier.attention_block(block, memory);
        }
    }

    DistanceScores distances_of(const Instruction& i, int64_t head) const {
        if (!i.w) return {};
        const float* of_head = i.w + (head * (2 * i.rows - 1) + i.rows - 1) * i.dim;
        return {of_head, i.w2 + head * i.dim, i.w2 + (i.heads + head) * i.dim};
    }

    // The same where keys and values may be rounded.
    void attend_in_bf16(const Instruction& i, const HeadTask& task) const {
        static thread_local Scratch scratch;
        const auto& [at, head, first, count] = task;
        const ProgramSegment& segment = step.segments[at];
        const int64_t low = i.window ? std::max<int64_t>(first + 1 - i.window, 0) : 0;
        const int64_t high = std::min(segment.count, first + count + i.ahead);
        const int64_t room = bf16_attention_scratch(i.dim), stride = width(i.in), dim = i.dim, numbers = bf16_attention_tokens(high - low) * dim;
        float* memory = reinterpret_cast<float*>(scratch.at_least(room * 4 + 2 * numbers * 2));
        uint16_t *k = reinterpret_cast<uint16_t*>(memory + room), *v = k + numbers;
        const float *x = row(i.in, segment.start), *keys = keys_of(i, task) + low * stride;
        tier.bf16_attention->bring(keys, keys + i.kv_heads * dim, stride, high - low, dim, k, v);
        for (int64_t t = first; t < first + count; t += kRows)
            tier.bf16_attention->attend({x + t * stride + head * dim, stride, k, v, dim, std::min<int64_t>(kRows, first + count - t), t - low, i.window,
                                         i.ahead, high - low, i.scale, row(i.out, segment.start + t) + head * dim, width(i.out)}, memory);
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
                tier.decode_attention({in(i, t) + at, memory(i, s, 0, head, encoder_length), memory(i, s, 1, head, encoder_length), encoder_length, group, i.dim,
                             i.scale, row(i.out, t) + at, tier.ahead, tier.kv_near, nullptr}, memory_of_thread);
            }
        });
    }

    void map(const Instruction& i) const {
        const auto operand = [&](const RegisterView& v, int64_t t) {
            const float* given = v.index == -2 ? step.angles[2 * i.angles] + t * i.rotary_dim : i.w;
            return MapOperand{v.index < 0 ? given + v.at : at(v, t), v.apart, v.step};
        };
        each_token(i.heads * i.dim, [&](int64_t t) {
            tier.map({i.function, i.heads, i.dim, operand(i.views[0], t), operand(i.views[1], t), at(i.views[2], t), i.views[2].apart,
                      i.scale, i.shift});
        });
    }

    // Of each channel with its own last inputs: some channels of a sequence at a time.
    void conv(const Instruction& i) const {
        const int64_t kept = i.taps - 1, chunks = (i.dim + kConvChunk - 1) / kConvChunk;
        parallel(step.segment_count * chunks, 1, i.dim * i.taps * step.tokens > kFew ? threads : 1, [&](int64_t begin, int64_t end) {
            static thread_local Scratch scratch;
            float* rows = reinterpret_cast<float*>(scratch.at_least((kept * kConvChunk * 4 + 63) / 64 * 64 + i.taps * static_cast<int64_t>(sizeof(float*))));
            const float** seen = reinterpret_cast<const float**>(rows + (kept * kConvChunk + 15) / 16 * 16);
            for (int64_t p = begin; p < end; ++p) {
                const int64_t s = p / chunks, first = p % chunks * kConvChunk, n = std::min(kConvChunk, i.dim - first);
                const ProgramSegment& segment = step.segments[s];
                uint8_t* const* lies = step.memory + (i.layer * step.segment_count + s) * 4;
                const auto state = [&](int which, int64_t r) {
                    const KVRows whole{i.kv_dtype, i.dim, i.dim, lies[which], nullptr};
                    return KVRows{i.kv_dtype, n, n, lies[which] + r * whole.row_bytes() + first * (i.kv_dtype == KVDtype::F32 ? 4 : 2), nullptr};
                };
                for (int64_t r = 0; r < kept; ++r) tier.load_kv(state(0, r), 1, rows + r * kConvChunk);
                const auto source = [&](int64_t r) {  // of what was kept and the new ones the rth
                    return r < kept ? rows + r * kConvChunk : at(i.views[0], segment.start + r - kept) + first;
                };
                for (int64_t t = 0; t < segment.count; ++t) {
                    for (int64_t tap = 0; tap < i.taps; ++tap) seen[tap] = source(t + tap);
                    tier.depthwise(seen, i.taps, i.w + first * i.taps, i.w2 + first, n, at(i.views[2], segment.start + t) + first);
                }
                for (int64_t r = 0; r < kept; ++r) tier.store_kv(source(segment.count + r), state(1, r));
            }
        });
    }

    // Of each channel with the inputs around it, some channels of a sequence at a time.
    void centred_conv(const Instruction& i) const {
        static const float nothing[kConvChunk] = {};
        const int64_t chunks = (i.dim + kConvChunk - 1) / kConvChunk;
        parallel(step.segment_count * chunks, 1, i.dim * i.taps * step.tokens > kFew ? threads : 1, [&](int64_t begin, int64_t end) {
            static thread_local std::vector<const float*> seen;
            seen.resize(static_cast<size_t>(i.taps));
            for (int64_t p = begin; p < end; ++p) {
                const int64_t s = p / chunks, first = p % chunks * kConvChunk, n = std::min(kConvChunk, i.dim - first);
                const ProgramSegment& segment = step.segments[s];
                for (int64_t t = 0; t < segment.count; ++t) {
                    for (int64_t tap = 0; tap < i.taps; ++tap) {
                        const int64_t from = t + tap - i.taps / 2;
                        seen[static_cast<size_t>(tap)] = from < 0 || from >= segment.count ? nothing : at(i.views[0], segment.start + from) + first;
                    }
                    tier.depthwise(seen.data(), i.taps, i.w + first * i.taps, i.w2 + first, n, at(i.views[2], segment.start + t) + first);
                }
            }
        });
    }

    // One value head of a sequence at a time.
    void recur(const Instruction& i) const {
        const RegisterView &q = i.views[0], &k = i.views[1], &v = i.views[2], &g = i.views[3], &beta = i.views[4], &out = i.views[5];
        const int64_t numbers = i.dim * i.value_dim, group = i.heads / i.kv_heads;
        parallel(step.segment_count * i.heads, 1, i.heads * numbers * step.tokens > kFew ? threads : 1, [&](int64_t begin, int64_t end) {
            static thread_local Scratch scratch;
            float* room = reinterpret_cast<float*>(scratch.at_least(recurrence_scratch(i.dim) * 4));
            for (int64_t p = begin; p < end; ++p) {
                const int64_t s = p / i.heads, head = p % i.heads, first = step.segments[s].start;
                uint8_t* const* lies = step.memory + (i.layer * step.segment_count + s) * 4;
                const bool scan = beta.index < 0;
                tier.recur({at(q, first) + head / group * q.apart, at(k, first) + head / group * k.apart, at(v, first) + head * v.apart,
                            at(g, first) + head * g.apart, scan ? nullptr : at(beta, first) + head * beta.apart, stride(q), stride(k),
                            stride(v), stride(g), scan ? 0 : stride(beta), step.segments[s].count, i.dim, i.value_dim,
                            reinterpret_cast<const float*>(lies[2]) + head * numbers, reinterpret_cast<float*>(lies[3]) + head * numbers,
                            at(out, first) + head * out.apart, stride(out), room});
            }
        });
    }

    // Each head's numbers times a matrix of its own: an expert of packed ones, or rows of floats, one matrix behind the other.
    void head_product(const Instruction& i) const {
        const RegisterView &x = i.views[0], &out = i.views[2];
        if (i.matrix) return multiply_each(*i.matrix, at(x, 0), x.apart, step.tokens, stride(x), at(out, 0), out.apart, stride(out), threads);
        parallel(i.heads, 1, threads, [&](int64_t begin, int64_t end) {
            static thread_local Scratch scratch;
            float* room = reinterpret_cast<float*>(scratch.at_least(row_products_scratch(i.dim) * 4));
            for (int64_t h = begin; h < end; ++h) {
                KVRows rows{i.kv_dtype, i.dim, i.dim, reinterpret_cast<uint8_t*>(const_cast<float*>(i.w)), nullptr};
                rows.data += h * i.group * rows.row_bytes();
                for (int64_t t = 0; t < step.tokens; ++t)
                    tier.row_products(rows, i.rows, i.transposed, at(x, t) + h * x.apart, at(out, t) + h * out.apart, room);
            }
        });
    }

    // The matrix' row that each token's id names, in f32.
    void rows(const Instruction& i) const {
        const GrusMatrix& m = *i.matrix;
        if (!m.row_bytes) return grus_rows(&m, step.ids, step.tokens, row(i.out, 0), threads);
        const KVDtype type = m.format.code == Code::F32 ? KVDtype::F32 : m.format.code == Code::F16 ? KVDtype::F16 : KVDtype::BF16;
        for (int64_t t = 0; t < step.tokens; ++t) {
            if (m.bf12) bf12_row(tier, m, *m.bf12, step.ids[t], row(i.out, t));
            else tier.load_kv({type, m.columns, m.columns, m.data + step.ids[t] * m.row_bytes, nullptr}, 1, row(i.out, t));
        }
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
        multiply(*a, in(i, run.start), run.count, width(i.in), inner, a->rows, most);
        multiply(*b, inner, run.count, a->rows, made, b->rows, most);
        for (int64_t t = 0; t < run.count; ++t) {
            float* out = row(i.out, run.start + t) + i.at;
            for (int64_t c = 0; c < b->rows; ++c) out[c] += made[t * b->rows + c];
        }
    }

    void run(const Instruction& i) const {
        const int64_t n = width(i.out);
        switch (i.opcode) {
            case Opcode::Multiply:
                multiply(*i.matrix, in(i, 0), step.tokens, width(i.in), row(i.out, 0) + i.at, n, threads);
                return;
            case Opcode::MultiplyGelu:
                multiply(*i.matrix, in(i, 0), step.tokens, width(i.in), row(i.out, 0), n, threads, tier.gelu);
                return;
            case Opcode::Gate:
                multiply_gated(*i.matrix, i.up, Gate{i.gate}, in(i, 0), step.tokens, width(i.in), row(i.out, 0), n, threads);
                return;
            case Opcode::Norm:  // of a whole row, or of each of `heads` in it
                each_token(n, [&](int64_t t) {
                    const RegisterView& from = i.views[0];
                    if (!i.heads) return tier.rms_norm(in(i, t), nullptr, nullptr, i.w, i.eps, n, row(i.out, t));
                    for (int64_t h = 0; h < i.heads; ++h)
                        tier.rms_norm(in(i, t) + h * from.apart, nullptr, nullptr, i.w, i.eps, i.dim, row(i.out, t) + h * i.dim);
                });
                return;
            case Opcode::AddNorm:
                each_token(n, [&](int64_t t) { tier.rms_norm(in(i, t), other(i, t), row(i.sum, t), i.w, i.eps, n, row(i.out, t)); });
                return;
            case Opcode::Heads: heads(i); return;
            case Opcode::Attention: attention(i); return;
            case Opcode::Swiglu:
                each_token(n, [&](int64_t t) { tier.swiglu(in(i, t) + i.at, in(i, t) + n - i.at, n, row(i.out, t)); });
                return;
            case Opcode::Geglu:
                each_token(n, [&](int64_t t) { tier.geglu(in(i, t), in(i, t) + n, n, row(i.out, t)); });
                return;
            case Opcode::LayerNorm:
                each_token(n, [&](int64_t t) { tier.layer_norm(in(i, t), i.w, i.w2, i.eps, n, row(i.out, t)); });
                return;
            case Opcode::LowRank: low_rank(i); return;
            case Opcode::CrossAttention: cross_attention(i); return;
            case Opcode::EncoderAttention: encoder_attention(i); return;
            case Opcode::Gelu:
                each_token(n, [&](int64_t t) { tier.gelu(in(i, t), n, row(i.out, t)); });
                return;
            case Opcode::Mixture:
                run_mixture(*i.mixture, in(i, 0), width(i.in), other(i, 0), width(i.other), step.tokens, row(i.out, 0), n, threads);
                return;
            case Opcode::Map: map(i); return;
            case Opcode::Store: store(i); return;
            case Opcode::Conv: conv(i); return;
            case Opcode::CentredConv: centred_conv(i); return;
            case Opcode::Recur: recur(i); return;
            case Opcode::HeadProduct: head_product(i); return;
            case Opcode::Rows: rows(i); return;
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
