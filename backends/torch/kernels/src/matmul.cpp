// Products of a packed matrix with rows of activations: who computes which panel for which tokens. Knows no instruction
// set; a tier's kernels do the arithmetic.
#include <algorithm>
#include <cstring>

#include "cpu.hpp"
#include "matmul.hpp"
#include "pool.hpp"
#include "prompts.hpp"
#include "scratch.hpp"
#include "target.hpp"
#include "thirds.hpp"

namespace grus {
namespace {

#include "job.inl"
#include "ready.inl"

// The results of `n` tokens, with the panel's bias.
float* biased(const Ready& ready, int n, float* out) {
    for (int i = 0; ready.bias && i < n * kRows; ++i) out[i] += ready.bias[i % kRows];
    return out;
}

// How the unit of this thread is laid out at present.
struct Layout { int bytes, tokens; };

void lay_out(const Job& job, Layout wanted, Layout& layout) {
    if (layout.bytes == wanted.bytes && layout.tokens == wanted.tokens) return;
    job.tier.unit->begin(wanted.bytes, wanted.tokens);
    layout = wanted;
}

void run_on_unit(const Job& job, Ready& ready, int n, int64_t token, int64_t tokens, float* out, Layout& layout) {
    const Format& f = ready.m->format;
    lay_out(job, job.rounded() ? Layout{64, kUnitTokens} : Layout{kBlock / f.halves, n}, layout);
    if (job.rounded()) {
        ready.unit_rows.x = job.bf16_at(token);
        ready.unit_rows.tokens = n;
        ready.unit_rows.out = out;
        job.tier.unit->rows(ready.unit_rows);
        ready.unit_rows.next = nullptr;  // asked for once
        return;
    }
    ready.unit_tile.act = job.act_at(token);
    ready.unit_tile.out = out;
    // Without their offset codes are signed; but eight bits that were lowered by 128 to be stored are not.
    if (n == kUnitTokens) job.tier.unit->multiply[f.offset >= 0][f.halves - 1][f.minima](ready.unit_tile);
    else job.tier.unit->few[job.as_stored(tokens)][n / 8](ready.unit_tile);
    ready.unit_tile.ask = nullptr;
}

// A panel times `n` of its `tokens` tokens, of which `token` is the first.
void run_tile(const Job& job, Ready& ready, int n, int64_t token, int64_t tokens, float* out, Layout& layout) {
    const Format& f = ready.m->format;
    if (job.by_unit(n)) {
        run_on_unit(job, ready, n, token, tokens, out, layout);
    } else if (job.as_given()) {
        if (job.rounded()) ready.rows.x16 = job.bf16_at(token);
        else ready.rows.x = job.floats_at(token);
        ready.rows.out = out;
        if (job.rounded()) (ready.rows.bases ? job.tier.bf16->twelve : job.tier.bf16->rows)[log2_of(n)](ready.rows);
        else job.tier.rows_kernels[of_dense(f)][log2_of(n)](ready.rows);
    } else {
        if (f.dense()) ready.tile.dense = job.dense + token * job.padded();
        else ready.tile.act = job.act_at(token);
        ready.tile.out = out;
        const Code code = job.expanded ? Code::F32 : f.code;
        const auto& kernels = job.as_stored(tokens) ? job.tier.stored_kernels : job.tier.kernels;
        kernels[static_cast<int>(code)][f.halves - 1][f.minima][log2_of(n)](ready.tile);
        ready.tile.ahead = 0;
    }
    biased(ready, n, out);
}

// A token's results of one panel go where they belong; the last panel may have rows of padding.
void put(const Job& job, int64_t panel, int64_t token, const float* made) {
    const int64_t row = panel * kRows, rows = std::min<int64_t>(kRows, job.m.rows - row);
    float* y = job.y + (job.y_rows ? job.y_rows[token] : token) * job.y_stride + row;
    if (rows == kRows) std::memcpy(y, made, kRows * 4);  // a size that compilers know
    else std::memcpy(y, made, static_cast<size_t>(rows) * 4);
}

// For a panel that may have to be made from what is stored.
int64_t panel_room(const Job& job) { return job.m.stored || (job.up && job.up->stored) ? job.panel.bytes : 0; }

// For so few tokens two panels are read side by side, by a matrix unit for as many as it takes.
constexpr int64_t kMostInPairs = kUnitPair;

const PairKernel* pairs_for(const Job& job, int64_t count) {
    if (!job.tier.in_pairs || count > kMostInPairs || !job.as_stored(count)) return nullptr;
    const Format& f = job.m.format;
    const PairKernel* kernels = job.tier.pair_kernels[static_cast<int>(f.code)][f.halves - 1][f.minima];
    const int first = job.width(count);
    if (first == kUnitPair) return job.by_unit(first) ? kernels : nullptr;
    return kernels[log2_of(first)] ? kernels : nullptr;
}

void run_pair(const Job& job, const PairKernel* kernels, Ready& one, Ready& other, int n, int64_t token, float* out, Layout& layout) {
    float* beside = out + n * kRows;
    if (n == kUnitPair) {
        lay_out(job, {kBlock, n}, layout);
        one.unit_tile.act = job.act_at(token);
        one.unit_tile.out = out;
        other.unit_tile.out = beside;
        job.tier.unit->pair(one.unit_tile, other.unit_tile);
        return;
    }
    one.tile.act = other.tile.act = job.act_at(token);
    one.tile.out = out;
    other.tile.out = beside;
    kernels[log2_of(n)](one.tile, other.tile);
    one.tile.ahead = 0;
}

// The gate beside what it is for, else a panel of each half of the stretch.
void run_pairs(const Job& job, const PairKernel* kernels, int64_t expert, int64_t begin, int64_t end, int64_t count, int64_t x_first) {
    static thread_local Scratch scratch;
    const int64_t made = panel_room(job);
    Layout layout{};
    uint8_t* memory = scratch.at_least(2 * made);
    const Room rooms[2] = {{nullptr, nullptr, memory, nullptr}, {nullptr, nullptr, memory + made, nullptr}};
    alignas(64) float out[2 * kMostInPairs * kRows], gated[kMostInPairs * kRows];
    const int64_t apart = job.gated ? job.units() : (end - begin + 1) / 2, middle = job.gated ? end : begin + apart;
    const GrusMatrix& second = job.up ? *job.up : job.m;
    for (int64_t panel = begin; panel < middle; ++panel) {
        const bool alone = !job.gated && panel + apart >= end;
        Ready one = make_ready(job, job.m, expert, panel, false, count, rooms[0]);
        Ready other = alone ? one : make_ready(job, second, expert, job.up ? panel : panel + apart, false, count, rooms[1]);
        for (int64_t t = 0; t < count;) {
            const int n = job.width(count - t);
            float* beside = out + n * kRows;
            run_pair(job, kernels, one, other, n, t, out, layout);
            if (job.gated) job.tier.swiglu(biased(one, n, out), biased(other, n, beside), n * kRows, gated);
            const float* first = job.gated ? gated : biased(one, n, out);
            for (int i = 0; i < n; ++i) put(job, panel, x_first + t + i, first + i * kRows);
            if (!job.gated && !alone) {
                biased(other, n, beside);
                for (int i = 0; i < n; ++i) put(job, panel + apart, x_first + t + i, beside + i * kRows);
            }
            t += n;
        }
    }
    if (layout.tokens) job.tier.unit->end();
}

// Panels [begin, end) of an expert times its first `count` tokens; `x_first` is their place in the whole job.
void run_panels(const Job& job, int64_t expert, int64_t begin, int64_t end, int64_t count, int64_t x_first) {
    if (const PairKernel* kernels = pairs_for(job, count)) {
        run_pairs(job, kernels, expert, begin, end, count, x_first);
        return;
    }
    static thread_local Scratch scratch;
    const GrusMatrix& m = job.m;
    const int parts = job.gated ? 2 : 1;
    const int64_t scales = job.expanded ? job.padded() * kRows : m.format.dense() ? 0 : job.panel.blocks * m.format.halves * (1 + m.format.minima) * kRows;
    const int64_t codes = job.by_unit(job.width(count)) ? job.padded() * kRows * (job.rounded() ? 2 : 1) : 0;
    const int64_t made = panel_room(job);
    const int64_t halves = job.twelve || job.up_twelve ? kRows * twelve_stride(m.columns) : 0;
    const int64_t tile = job.widest() * kRows;
    uint8_t* memory = scratch.at_least((3 * tile + parts * scales) * 4 + parts * (codes + made + halves));
    float *out = reinterpret_cast<float*>(memory), *gated = out + 2 * tile;
    Room rooms[2];
    for (int part = 0; part < parts; ++part) {
        float* floats = gated + tile;
        uint8_t* bytes = reinterpret_cast<uint8_t*>(floats + parts * scales) + part * (codes + made + halves);
        rooms[part] = {floats + part * scales, bytes, bytes + codes, bytes + codes + made};
    }
    Layout layout{};
    for (int64_t panel = begin; panel < end; ++panel) {
        Ready ready[2];
        for (int part = 0; part < parts; ++part) {
            const GrusMatrix& mine = part && job.up ? *job.up : m;
            const int64_t at = panel + (part && !job.up ? job.units() : 0);
            ready[part] = make_ready(job, mine, expert, at, panel + 1 == end, count, rooms[part]);
        }
        for (int64_t t = 0; t < count;) {
            const int n = job.width(count - t);
            for (int part = 0; part < parts; ++part)
                run_tile(job, ready[part], n, t, count, out + part * n * kRows, layout);
            if (job.gated) job.tier.swiglu(out, out + n * kRows, n * kRows, gated);
            const float* made = job.gated ? gated : out;
            for (int i = 0; i < n; ++i, ++t) put(job, panel, x_first + t, made + i * kRows);
        }
    }
    if (layout.tokens) job.tier.unit->end();
}

// As many tokens at once as keep their activations in a core's second-level cache.
constexpr int64_t kCacheBytes = 512 * 1024;
constexpr int64_t kUnitCacheBytes = 1024 * 1024;  // a matrix unit is fed faster than memory gives weights

void run_group(Job& job, const Group& group) {
    static thread_local Scratch scratch;
    const int64_t widest = job.widest(), cache = widest > job.tier.tile ? kUnitCacheBytes : kCacheBytes;
    const int64_t most = std::max<int64_t>(widest, cache / job.bytes(widest) * widest);
    job.place(scratch.at_least(job.bytes(std::min(most, group.count))), std::min(most, group.count));
    for (int64_t done = 0; done < group.count; done += most) {
        const int64_t count = std::min(most, group.count - done), x_first = group.first + done;
        const int64_t tiles = (count + widest - 1) / widest;
        parallel(tiles, 1, tiles < 4 ? 1 : job.threads, [&](int64_t from, int64_t to) {
            for (int64_t at = from * widest; at < std::min(count, to * widest);) {
                const int n = job.width(count - at);
                prepare_tile(job, x_first + at, at, n);
                at += n;
            }
        });
        const int64_t grain = (1 << 14) / (job.panel.bytes * count) + 1;  // of panels: less is done before another has woken
        parallel(job.units(), grain, job.threads, [&](int64_t from, int64_t to) {
            run_panels(job, group.expert, from, to, count, x_first);
        });
    }
}

Job job_of(const GrusMatrix& m, const GrusMatrix* up, bool gated, const float* x, int64_t x_stride, float* y, int64_t y_stride,
           int threads, int64_t tokens) {
    const Tier& tier = current_tier();
    const bool expanded = m.row_bytes && tokens >= kFewestToExpand && !(m.format.code == Code::BF16 && tier.bf16);
    return {m, up, gated, tier, Panel(m.format, m.columns), x, x_stride, nullptr, y, y_stride, nullptr, threads, m.twelve,
            up ? up->twelve : nullptr, expanded, {}, nullptr};
}

}  // namespace

void multiply(const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, int threads) {
    if (by_thirds(current_tier(), m, tokens)) return multiply_by_thirds(current_tier(), m, x, tokens, x_stride, y, y_stride, threads);
    if (by_prompts(current_tier(), m, tokens))
        return multiply_prompt(current_tier(), m, nullptr, false, x, tokens, x_stride, y, y_stride, threads);
    Job job = job_of(m, nullptr, false, x, x_stride, y, y_stride, threads, tokens);
    run_group(job, {0, 0, tokens});
}

void multiply_gated(const GrusMatrix& gate, const GrusMatrix* up, const float* x, int64_t tokens, int64_t x_stride, float* y,
                    int64_t y_stride, int threads) {
    if (by_prompts(current_tier(), gate, tokens))
        return multiply_prompt(current_tier(), gate, up, true, x, tokens, x_stride, y, y_stride, threads);
    Job job = job_of(gate, up, true, x, x_stride, y, y_stride, threads, tokens);
    run_group(job, {0, 0, tokens});
}

}  // namespace grus

using namespace grus;

extern "C" {

// y[t] = matrix * x[t] + bias, of the first expert.
GRUS_API void grus_matmul(const GrusMatrix* m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride,
                          int32_t threads) {
    multiply(*m, x, tokens, x_stride, y, y_stride, threads);
}

// `pairs` products of single experts, sorted by expert: product i multiplies row x_rows[i] of x by expert experts[i] and
// goes to row y_rows[i] of y.
GRUS_API void grus_gather(const GrusMatrix* m, const float* x, int64_t x_stride, const int64_t* x_rows, const int64_t* experts,
                          const int64_t* y_rows, int64_t pairs, float* y, int64_t y_stride, int32_t threads) {
    Job job = job_of(*m, nullptr, false, x, x_stride, y, y_stride, threads, 0);
    job.x_rows = x_rows;
    job.y_rows = y_rows;
    for (int64_t i = 0; i < pairs;) {
        int64_t end = i + 1;
        while (end < pairs && experts[end] == experts[i]) ++end;
        run_group(job, {experts[i], i, end - i});
        i = end;
    }
}

}  // extern "C"
