// Products of a packed matrix with rows of activations: who computes which panel for which tokens. Knows no instruction
// set; a tier's kernels do the arithmetic.
#include <algorithm>
#include <cstring>

#include "cpu.hpp"
#include "matmul.hpp"
#include "pool.hpp"
#include "scratch.hpp"

namespace grus {
namespace {

// Tokens that meet one expert: `count` of them, from `first` in the order of the job.
struct Group { int64_t expert, first, count; };

struct Job {
    const GrusMatrix& m;
    const Tier& tier;
    Panel panel;
    const float* x;
    int64_t x_stride;
    const int64_t* x_rows;  // null: token t reads row t
    float* y;
    int64_t y_stride;
    const int64_t* y_rows;  // null: token t writes row t
    bool gated;
    int threads;

    Activations act;
    float* dense;

    int64_t padded() const { return panel.blocks * kBlock; }
    int halves() const { return m.format.halves; }

    // Activation memory for `tokens` tokens.
    int64_t bytes(int64_t tokens) const {
        if (m.format.dense()) return tokens * padded() * 4;
        return tokens * (padded() + panel.blocks * 4 * notes_per_block(halves()));
    }

    void place(uint8_t* memory, int64_t tokens) {
        dense = reinterpret_cast<float*>(memory);
        act.codes = reinterpret_cast<int8_t*>(memory);
        act.notes = reinterpret_cast<float*>(memory + tokens * padded());
    }

    Activations act_at(int64_t token) const {
        return {act.codes + token * padded(), act.notes + token * panel.blocks * notes_per_block(halves())};
    }
};

int width_of(int64_t left, int most) {
    int width = most;
    while (width > left) width /= 2;
    return width;
}

int log2_of(int width) { return width == 8 ? 3 : width / 2; }

void prepare_tile(const Job& job, int64_t x_first, int64_t at, int n) {
    const GrusMatrix& m = job.m;
    const float* x = job.x_rows ? job.x : job.x + x_first * job.x_stride;
    const int64_t* rows = job.x_rows ? job.x_rows + x_first : nullptr;
    if (!m.format.dense()) {
        const bool is_signed = m.format.code == Code::S8 || m.format.code == Code::L4;
        job.tier.quantize(x, job.x_stride, rows, n, m.columns, job.halves(),
                          m.format.offset + (is_signed ? job.tier.signed_bias : 0), job.act_at(at));
        return;
    }
    float* to = job.dense + at * job.padded();
    for (int t = 0; t < n; ++t) {
        const float* row = x + (rows ? rows[t] : t) * job.x_stride;
        for (int64_t c = 0; c < m.columns; ++c) to[c * n + t] = row[c];
        for (int64_t c = m.columns; c < job.padded(); ++c) to[c * n + t] = 0.0f;
    }
}

// One panel times a tile of `n` tokens.
void run_tile(const Job& job, Tile& tile, int n, int64_t token, const float* bias) {
    const Format& f = job.m.format;
    if (f.dense()) tile.dense = job.dense + token * job.padded();
    else tile.act = job.act_at(token);
    job.tier.kernels[static_cast<int>(f.code)][f.halves - 1][f.minima][log2_of(n)](tile);
    if (!bias) return;
    for (int i = 0; i < n; ++i)
        for (int r = 0; r < kRows; ++r) tile.out[i * kRows + r] += bias[r];
}

// Panels [begin, end) of an expert times its first `count` tokens; `x_first` is their place in the whole job. Where the job is
// gated, panel p of the gate meets panel p of what is gated.
void run_panels(const Job& job, int64_t expert, int64_t begin, int64_t end, int64_t count, int64_t x_first) {
    static thread_local Scratch scratch;
    const GrusMatrix& m = job.m;
    const Format& f = m.format;
    const int parts = job.gated ? 2 : 1;
    const int64_t panels = panels_of(m), count_scales = f.dense() ? 0 : job.panel.blocks * f.halves * (1 + f.minima) * kRows;
    float* scales = reinterpret_cast<float*>(scratch.at_least((parts * count_scales + 3 * 8 * kRows) * 4));
    float *out = scales + parts * count_scales, *gated = out + 2 * 8 * kRows;
    for (int64_t panel = begin; panel < end; ++panel) {
        const uint8_t* data[2];
        const float* bias[2] = {};
        for (int part = 0; part < parts; ++part) {
            const int64_t at = panel + part * panels / 2;
            data[part] = panel_at(m, job.panel, expert, at);
            if (!f.dense()) job.tier.expand(f, job.panel, data[part], scales + part * count_scales);
            if (m.bias) bias[part] = m.bias + (expert * panels + at) * kRows;
        }
        const int64_t row = panel * kRows, rows = std::min<int64_t>(kRows, m.rows - row);
        for (int64_t t = 0; t < count;) {
            const int n = width_of(count - t, job.tier.tile);
            for (int part = 0; part < parts; ++part) {
                Tile tile{data[part] + job.panel.codes, scales + part * count_scales, {}, nullptr, job.panel.blocks,
                          values_of(f.table), out + part * n * kRows};
                run_tile(job, tile, n, t, bias[part]);
            }
            if (job.gated) job.tier.swiglu(out, n * kRows, gated);
            const float* made = job.gated ? gated : out;
            for (int i = 0; i < n; ++i, ++t) {
                int64_t y_row = job.y_rows ? job.y_rows[x_first + t] : x_first + t;
                std::memcpy(job.y + y_row * job.y_stride + row, made + i * kRows, static_cast<size_t>(rows) * 4);
            }
        }
    }
}

// As many tokens at once as keep their activations in a core's second-level cache.
constexpr int64_t kCacheBytes = 512 * 1024;

void run_group(Job& job, const Group& group) {
    static thread_local Scratch scratch;
    const int64_t most = std::max<int64_t>(job.tier.tile, kCacheBytes / job.bytes(1) / job.tier.tile * job.tier.tile);
    job.place(scratch.at_least(job.bytes(std::min(most, group.count))), std::min(most, group.count));
    const int64_t panels = panels_of(job.m);
    for (int64_t done = 0; done < group.count; done += most) {
        const int64_t count = std::min(most, group.count - done), x_first = group.first + done;
        const int64_t tiles = (count + job.tier.tile - 1) / job.tier.tile;
        parallel(tiles, 1, tiles < 4 ? 1 : job.threads, [&](int64_t from, int64_t to) {
            for (int64_t at = from * job.tier.tile; at < std::min(count, to * job.tier.tile);) {
                const int n = width_of(count - at, job.tier.tile);
                prepare_tile(job, x_first + at, at, n);
                at += n;
            }
        });
        const int64_t grain = (1 << 14) / (job.panel.bytes * count) + 1;  // of panels: less is done before another has woken
        parallel(job.gated ? panels / 2 : panels, grain, job.threads, [&](int64_t from, int64_t to) {
            run_panels(job, group.expert, from, to, count, x_first);
        });
    }
}

}  // namespace

void multiply(const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, bool gated,
              int threads) {
    Job job{m, current_tier(), Panel(m.format, m.columns), x, x_stride, nullptr, y, y_stride, nullptr, gated, threads, {},
            nullptr};
    run_group(job, {0, 0, tokens});
}

}  // namespace grus

using namespace grus;

extern "C" {

// y[t] = matrix * x[t] + bias, of the first expert.
GRUS_API void grus_matmul(const GrusMatrix* m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride,
                          int32_t threads) {
    multiply(*m, x, tokens, x_stride, y, y_stride, false, threads);
}

// `pairs` products of single experts, sorted by expert: product i multiplies row x_rows[i] of x by expert experts[i] and
// goes to row y_rows[i] of y.
GRUS_API void grus_gather(const GrusMatrix* m, const float* x, int64_t x_stride, const int64_t* x_rows, const int64_t* experts,
                          const int64_t* y_rows, int64_t pairs, float* y, int64_t y_stride, int32_t threads) {
    Job job{*m, current_tier(), Panel(m->format, m->columns), x, x_stride, x_rows, y, y_stride, y_rows, false,
            threads, {}, nullptr};
    for (int64_t i = 0; i < pairs;) {
        int64_t end = i + 1;
        while (end < pairs && experts[end] == experts[i]) ++end;
        run_group(job, {experts[i], i, end - i});
        i = end;
    }
}

}  // extern "C"
