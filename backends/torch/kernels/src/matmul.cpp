// Products of a packed matrix with rows of activations: who computes which panel for which tokens. Knows no instruction
// set; a tier's kernels do the arithmetic.
#include <algorithm>
#include <cstring>

#include "cpu.hpp"
#include "matmul.hpp"
#include "pool.hpp"
#include "scratch.hpp"
#include "target.hpp"

namespace grus {
namespace {

// Tokens that meet one expert: `count` of them, from `first` in the order of the job.
struct Group { int64_t expert, first, count; };

struct Job {
    const GrusMatrix& m;
    const GrusMatrix* up;  // of a gated job: what the gate `m` is for
    bool gated;
    const Tier& tier;
    Panel panel;
    const float* x;
    int64_t x_stride;
    const int64_t* x_rows;  // null: token t reads row t
    float* y;
    int64_t y_stride;
    const int64_t* y_rows;  // null: token t writes row t
    int threads;

    Activations act;
    float* dense;

    bool as_given() const { return m.row_bytes != 0; }  // rows of a file meet activations that are not packed either
    bool rounded() const { return as_given() && m.format.code == Code::BF16 && tier.bf16; }
    // From one token to the next. Not a power of two, or the same columns of all tokens would compete for one place in a cache.
    int64_t spread() const { return padded() + (rounded() ? 32 : 16); }
    uint16_t* bf16_at(int64_t token) const { return reinterpret_cast<uint16_t*>(act.codes) + token * spread(); }
    float* floats_at(int64_t token) const { return dense + token * spread(); }
    int64_t units() const { return gated && !up ? panels_of(m) / 2 : panels_of(m); }
    int64_t padded() const { return panel.blocks * kBlock; }
    int halves() const { return m.format.halves; }

    // Activation memory for `tokens` tokens.
    int64_t bytes(int64_t tokens) const {
        if (as_given()) return tokens * spread() * (rounded() ? 2 : 4);
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
    if (job.as_given()) {
        for (int t = 0; t < n; ++t) {
            const float* from = job.x + (x_first + t) * job.x_stride;
            if (job.rounded()) job.tier.bf16->round(from, m.columns, job.bf16_at(at + t));
            else std::memcpy(job.floats_at(at + t), from, static_cast<size_t>(m.columns) * 4);
        }
        return;
    }
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

// A panel of a matrix, made ready to be multiplied.
struct Ready {
    const GrusMatrix* m;
    const float* bias;
    Rows rows;  // of a matrix that lies as in a file
    Tile tile;  // of a packed one
};

Ready make_ready(const Job& job, const GrusMatrix& m, int64_t expert, int64_t panel, int64_t tokens, float* scales) {
    const float* bias = m.bias ? m.bias + (expert * panels_of(m) + panel) * kRows : nullptr;
    if (m.row_bytes) {
        const int64_t first = panel * kRows, rows = std::min<int64_t>(kRows, m.rows - first);
        const uint8_t* data = m.data + first * m.row_bytes;
        const bool streamed = tokens <= job.tier.tile;
        for (int64_t at = 0; !streamed && at < rows * m.row_bytes; at += 64) PREFETCH(data + at);  // in order, once
        return {&m, bias, {data, m.row_bytes, rows, m.columns, streamed, nullptr, nullptr, job.spread(), nullptr}, {}};
    }
    const uint8_t* data = panel_at(m, job.panel, expert, panel);
    if (!m.format.dense()) job.tier.expand(m.format, job.panel, data, scales);
    return {&m, bias, {}, {data + job.panel.codes, scales, {}, nullptr, job.panel.blocks, values_of(m.format.table), nullptr}};
}

// A panel times `n` tokens, of which `token` is the first.
void run_tile(const Job& job, Ready& ready, int n, int64_t token, float* out) {
    const Format& f = ready.m->format;
    if (ready.m->row_bytes) {
        if (job.rounded()) ready.rows.x16 = job.bf16_at(token);
        else ready.rows.x = job.floats_at(token);
        ready.rows.out = out;
        if (job.rounded()) job.tier.bf16->rows[log2_of(n)](ready.rows);
        else job.tier.rows_kernels[static_cast<int>(f.code) - static_cast<int>(Code::F32)][log2_of(n)](ready.rows);
    } else {
        if (f.dense()) ready.tile.dense = job.dense + token * job.padded();
        else ready.tile.act = job.act_at(token);
        ready.tile.out = out;
        job.tier.kernels[static_cast<int>(f.code)][f.halves - 1][f.minima][log2_of(n)](ready.tile);
    }
    if (!ready.bias) return;
    for (int i = 0; i < n; ++i)
        for (int r = 0; r < kRows; ++r) out[i * kRows + r] += ready.bias[r];
}

// Panels [begin, end) of an expert times its first `count` tokens; `x_first` is their place in the whole job.
void run_panels(const Job& job, int64_t expert, int64_t begin, int64_t end, int64_t count, int64_t x_first) {
    static thread_local Scratch scratch;
    const GrusMatrix& m = job.m;
    const int parts = job.gated ? 2 : 1;
    const int64_t count_scales = m.format.dense() ? 0 : job.panel.blocks * m.format.halves * (1 + m.format.minima) * kRows;
    float* out = reinterpret_cast<float*>(scratch.at_least((parts * count_scales + 3 * 8 * kRows) * 4));
    float *gated = out + 2 * 8 * kRows, *scales = gated + 8 * kRows;
    for (int64_t panel = begin; panel < end; ++panel) {
        Ready ready[2];
        for (int part = 0; part < parts; ++part) {
            const GrusMatrix& mine = part && job.up ? *job.up : m;
            ready[part] = make_ready(job, mine, expert, panel + (part && !job.up ? job.units() : 0), count, scales + part * count_scales);
        }
        const int64_t row = panel * kRows, rows = std::min<int64_t>(kRows, m.rows - row);
        for (int64_t t = 0; t < count;) {
            const int n = width_of(count - t, job.tier.tile);
            for (int part = 0; part < parts; ++part)
                run_tile(job, ready[part], n, t, out + part * n * kRows);
            if (job.gated) job.tier.swiglu(out, out + n * kRows, n * kRows, gated);
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
        parallel(job.units(), grain, job.threads, [&](int64_t from, int64_t to) {
            run_panels(job, group.expert, from, to, count, x_first);
        });
    }
}

Job job_of(const GrusMatrix& m, const GrusMatrix* up, bool gated, const float* x, int64_t x_stride, float* y, int64_t y_stride,
           int threads) {
    return {m, up, gated, current_tier(), Panel(m.format, m.columns), x, x_stride, nullptr, y, y_stride, nullptr, threads, {},
            nullptr};
}

}  // namespace

void multiply(const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, int threads) {
    Job job = job_of(m, nullptr, false, x, x_stride, y, y_stride, threads);
    run_group(job, {0, 0, tokens});
}

void multiply_gated(const GrusMatrix& gate, const GrusMatrix* up, const float* x, int64_t tokens, int64_t x_stride, float* y,
                    int64_t y_stride, int threads) {
    Job job = job_of(gate, up, true, x, x_stride, y, y_stride, threads);
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
    Job job = job_of(*m, nullptr, false, x, x_stride, y, y_stride, threads);
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
