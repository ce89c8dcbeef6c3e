// Matrix products: choice of the kernel, and the work split among threads. The arithmetic is the tiers'.
#include <algorithm>
#include <cstring>
#include <vector>

#include "arch/dispatch.hpp"
#include "common/compiler.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "matmul/matmul.hpp"

namespace grus {
namespace {

#include "matmul/prepare.inl"

// -- tiles, panels, groups

// The results of `n` tokens, with the panel's bias.
float* biased(const float* bias, int64_t tokens, float* out) {
    for (int64_t i = 0; bias && i < tokens * kRows; ++i) out[i] += bias[i % kRows];
    return out;
}
float* biased(const PreparedPanel& prepared, int n, float* out) { return biased(prepared.bias, n, out); }

// And with the function of each that the job has.
float* finished(const MatmulJob& job, const PreparedPanel& prepared, int n, float* out) {
    biased(prepared, n, out);
    if (job.each) job.each(out, n * kRows, out);
    return out;
}

// How the unit of this thread is laid out at present.
struct UnitLayout { int bytes, tokens; };

void configure_unit(const MatmulJob& job, UnitLayout wanted, UnitLayout& layout) {
    if (layout.bytes == wanted.bytes && layout.tokens == wanted.tokens) return;
    job.tier.unit->begin(wanted.bytes, wanted.tokens);
    layout = wanted;
}

void run_on_unit(const MatmulJob& job, PreparedPanel& prepared, int n, int64_t token, int64_t tokens, float* out, UnitLayout& layout) {
    const Format& f = prepared.m->format;
    configure_unit(job, job.bf16_activations() ? UnitLayout{64, kUnitTokens} : UnitLayout{kBlock / f.halves, n}, layout);
    if (job.bf16_activations()) {
        prepared.unit_rows.x = job.bf16_at(token);
        prepared.unit_rows.tokens = n;
        prepared.unit_rows.out = out;
        job.tier.unit->rows(prepared.unit_rows);
        prepared.unit_rows.next = nullptr;  // prefetched once
        return;
    }
    prepared.unit_tile.act = job.act_at(token);
    prepared.unit_tile.out = out;
    // Without their offset codes are signed; but eight bits that were lowered by 128 to be stored are not.
    if (n == kUnitTokens) job.tier.unit->multiply[f.offset >= 0][f.halves - 1][f.minima](prepared.unit_tile);
    else job.tier.unit->few[job.as_stored(tokens)][n / 8](prepared.unit_tile);
    prepared.unit_tile.prefetch = nullptr;
}

// A panel times `n` of its `tokens` tokens, of which `token` is the first.
void run_tile(const MatmulJob& job, PreparedPanel& prepared, int n, int64_t token, int64_t tokens, float* out, UnitLayout& layout) {
    const Format& f = prepared.m->format;
    if (job.on_unit(n)) {
        run_on_unit(job, prepared, n, token, tokens, out, layout);
    } else if (job.row_major()) {
        if (job.bf16_activations()) prepared.rows.x16 = job.bf16_at(token);
        else prepared.rows.x = job.floats_at(token);
        prepared.rows.out = out;
        if (job.bf16_activations()) (prepared.rows.bases ? job.tier.bf16->bf12 : job.tier.bf16->rows)[n - 1](prepared.rows);
        else job.tier.rows_kernels[of_dense(f)][n - 1](prepared.rows);
    } else {
        if (f.dense()) prepared.tile.dense = job.dense + token * job.padded();
        else prepared.tile.act = job.act_at(token);
        prepared.tile.out = out;
        const Code code = job.expanded ? Code::F32 : f.code;
        const auto& kernels = job.as_stored(tokens) ? job.tier.stored_kernels : job.tier.kernels;
        kernels[static_cast<int>(code)][f.halves - 1][f.minima][n - 1](prepared.tile);
        prepared.tile.ahead = 0;
    }
    biased(prepared, n, out);
}

// A token's results of one panel go where they belong; the last panel may have rows of padding.
void put(const MatmulJob& job, int64_t panel, int64_t token, const float* made) {
    const int64_t row = panel * kRows, rows = std::min<int64_t>(kRows, job.m.rows - row);
    float* y = job.y + (job.y_rows ? job.y_rows[token] : token) * job.y_stride + row;
    if (rows == kRows) std::memcpy(y, made, kRows * 4);  // a size that compilers know
    else std::memcpy(y, made, static_cast<size_t>(rows) * 4);
}

// For a panel that may have to be made from what is stored.
int64_t panel_room(const MatmulJob& job) { return job.m.stored || (job.up && job.up->stored) ? job.panel.bytes : 0; }

// For so few tokens two panels are read side by side, by a matrix unit for as many as it takes.
constexpr int64_t kMostInPairs = kUnitPair;

const PairKernel* pairs_for(const MatmulJob& job, int64_t count) {
    if (count > kMostInPairs || !job.as_stored(count) || !job.stream(count).in_pairs) return nullptr;
    const Format& f = job.m.format;
    const PairKernel* kernels = job.tier.pair_kernels[static_cast<int>(f.code)][f.halves - 1][f.minima];
    const int first = job.width(count);
    if (first == kUnitPair) return job.on_unit(first) ? kernels : nullptr;
    return kernels[first / 2] ? kernels : nullptr;
}

void run_pair(const MatmulJob& job, const PairKernel* kernels, PreparedPanel& one, PreparedPanel& other, int n, int64_t token, float* out, UnitLayout& layout) {
    float* beside = out + n * kRows;
    if (n == kUnitPair) {
        configure_unit(job, {kBlock, n}, layout);
        one.unit_tile.act = job.act_at(token);
        one.unit_tile.out = out;
        other.unit_tile.out = beside;
        job.tier.unit->pair(one.unit_tile, other.unit_tile);
        return;
    }
    one.tile.act = other.tile.act = job.act_at(token);
    one.tile.out = out;
    other.tile.out = beside;
    kernels[n / 2](one.tile, other.tile);
    one.tile.ahead = 0;
}

// Pairs of panels: the gate with its up projection, else one panel of each half of the range.
void run_pairs(const MatmulJob& job, const PairKernel* kernels, int64_t expert, int64_t begin, int64_t end, int64_t count, int64_t x_first) {
    static thread_local Scratch scratch;
    const int64_t made = panel_room(job);
    UnitLayout layout{};
    uint8_t* memory = scratch.at_least(2 * made);
    const PanelScratch rooms[2] = {{nullptr, nullptr, memory, nullptr}, {nullptr, nullptr, memory + made, nullptr}};
    alignas(64) float out[2 * kMostInPairs * kRows], gated[kMostInPairs * kRows];
    const int64_t apart = job.gate ? job.units() : (end - begin + 1) / 2, middle = job.gate ? end : begin + apart;
    const GrusMatrix& second = job.up ? *job.up : job.m;
    for (int64_t panel = begin; panel < middle; ++panel) {
        const bool alone = !job.gate && panel + apart >= end;
        PreparedPanel one = prepare_panel(job, job.m, expert, panel, false, count, rooms[0]);
        PreparedPanel other = alone ? one : prepare_panel(job, second, expert, job.up ? panel : panel + apart, false, count, rooms[1]);
        for (int64_t t = 0; t < count;) {
            const int n = job.width(count - t);
            float* beside = out + n * kRows;
            run_pair(job, kernels, one, other, n, t, out, layout);
            if (job.gate) job.gate->run(job.tier, biased(one, n, out), biased(other, n, beside), n * kRows, gated);
            const float* first = job.gate ? gated : finished(job, one, n, out);
            for (int i = 0; i < n; ++i) put(job, panel, x_first + t + i, first + i * kRows);
            if (!job.gate && !alone) {
                finished(job, other, n, beside);
                for (int i = 0; i < n; ++i) put(job, panel + apart, x_first + t + i, beside + i * kRows);
            }
            t += n;
        }
    }
    if (layout.tokens) job.tier.unit->end();
}

// Panels that few tokens meet, each once, with scales as they are stored. Between two of them there is as little as possible: a core's window
// of instructions is for loads.
class StoredPanels {
  public:
    StoredPanels(const MatmulJob& job, const GrusMatrix& m, int64_t expert, int64_t first, int64_t count, uint8_t* room)
        : job_(job), m_(m), expert_(expert), count_(count), room_(room), stream_(job.stream(count)) {
        const Format& f = m.format;
        kernels_ = job.tier.stored_kernels[static_cast<int>(f.code)][f.halves - 1][f.minima];
        tile_.layout = &job.panel;
        tile_.blocks = job.panel.blocks;
        tile_.values = values_of(f.table, job.tier.signed_bias);
        tile_.prefetch = stream_.prefetch;
        if (stream_.prefetch == Prefetch::Panels && m.data) ask_for(panel_at(m, job.panel, expert, first), job.panel.codes + stream_.ahead);
    }

    // [count][16]
    void multiply(int64_t panel, float* out) {
        tile_.panel = panel_of(m_, job_.panel, expert_, panel, room_);
        tile_.codes = tile_.panel + job_.panel.codes;
        tile_.ahead = tile_.panel == room_ ? 0 : stream_.ahead;
        if (stream_.prefetch != Prefetch::Panels && tile_.panel != room_) ask_for(tile_.panel, job_.panel.codes);
        for (int64_t t = 0; t < count_;) {
            const int n = job_.width(count_ - t);
            tile_.act = job_.act_at(t);
            tile_.out = out + t * kRows;
            kernels_[n - 1](tile_);
            tile_.ahead = 0;
            t += n;
        }
        biased(bias_of(m_, expert_, panel), count_, out);
    }

  private:
    const MatmulJob& job_;
    const GrusMatrix& m_;
    int64_t expert_, count_;
    uint8_t* room_;
    PanelStream stream_;
    const TileKernel* kernels_;
    Tile tile_{};
};

// Whether `StoredPanels` are how so many tokens meet the job's panels.
bool reads_stored_panels(const MatmulJob& job, int64_t count) { return job.as_stored(count) && !job.on_unit(job.width(count)); }

// Panels of a gate that few tokens meet before those of its up projection: read in turns, each of them would begin a new stream of memory.
constexpr int64_t kGatePanels = 16;

// As `run_panels`, of StoredPanels.
void run_stored_panels(const MatmulJob& job, int64_t expert, int64_t begin, int64_t end, int64_t count, int64_t x_first) {
    static thread_local Scratch scratch;
    const int64_t size = count * kRows;
    float* out = reinterpret_cast<float*>(scratch.at_least(size * 4 + panel_room(job)));
    StoredPanels panels(job, job.m, expert, begin, count, reinterpret_cast<uint8_t*>(out + size));
    for (int64_t panel = begin; panel < end; ++panel) {
        panels.multiply(panel, out);
        if (job.each) job.each(out, size, out);
        for (int64_t t = 0; t < count; ++t) put(job, panel, x_first + t, out + t * kRows);
    }
}

// The same for a gate.
void run_gated_panels(const MatmulJob& job, int64_t expert, int64_t begin, int64_t end, int64_t count, int64_t x_first) {
    static thread_local Scratch scratch;
    const int64_t size = count * kRows;  // of a panel's results
    float* out = reinterpret_cast<float*>(scratch.at_least((2 * kGatePanels + 1) * size * 4 + panel_room(job)));
    float *beside = out + kGatePanels * size, *gated = beside + kGatePanels * size;
    uint8_t* room = reinterpret_cast<uint8_t*>(gated + size);
    const GrusMatrix& second = job.up ? *job.up : job.m;
    const auto multiply_panels = [&](const GrusMatrix& m, int64_t first, int64_t count_of_panels, float* to) {
        StoredPanels panels(job, m, expert, first, count, room);
        for (int64_t i = 0; i < count_of_panels; ++i) panels.multiply(first + i, to + i * size);
    };
    for (int64_t first = begin; first < end; first += kGatePanels) {
        const int64_t panels = std::min(kGatePanels, end - first);
        multiply_panels(job.m, first, panels, out);
        multiply_panels(second, first + (job.up ? 0 : job.units()), panels, beside);
        for (int64_t i = 0; i < panels; ++i) {
            job.gate->run(job.tier, out + i * size, beside + i * size, size, gated);
            for (int64_t t = 0; t < count; ++t) put(job, first + i, x_first + t, gated + t * kRows);
        }
    }
}

// Panels [begin, end) of an expert times its first `count` tokens; `x_first` is their place in the whole job.
void run_panels(const MatmulJob& job, int64_t expert, int64_t begin, int64_t end, int64_t count, int64_t x_first) {
    if (const PairKernel* kernels = pairs_for(job, count)) {
        run_pairs(job, kernels, expert, begin, end, count, x_first);
        return;
    }
    if (reads_stored_panels(job, count)) {
        (job.gate ? run_gated_panels : run_stored_panels)(job, expert, begin, end, count, x_first);
        return;
    }
    static thread_local Scratch scratch;
    const GrusMatrix& m = job.m;
    const int parts = job.gate ? 2 : 1;
    const int64_t scales = job.expanded ? job.padded() * kRows : m.format.dense() ? 0 : job.panel.blocks * m.format.halves * (1 + m.format.minima) * kRows;
    const int64_t codes = job.on_unit(job.width(count)) ? job.padded() * kRows * (job.bf16_activations() ? 2 : 1) : 0;
    const int64_t made = panel_room(job);
    const int64_t halves = job.bf12 || job.up_bf12 ? kRows * bf12_panel_stride(m.columns) : 0;
    const int64_t tile = job.widest() * kRows;
    uint8_t* memory = scratch.at_least((3 * tile + parts * scales) * 4 + parts * (codes + made + halves));
    float *out = reinterpret_cast<float*>(memory), *gated = out + 2 * tile;
    PanelScratch rooms[2];
    for (int part = 0; part < parts; ++part) {
        float* floats = gated + tile;
        uint8_t* bytes = reinterpret_cast<uint8_t*>(floats + parts * scales) + part * (codes + made + halves);
        rooms[part] = {floats + part * scales, bytes, bytes + codes, bytes + codes + made};
    }
    UnitLayout layout{};
    for (int64_t panel = begin; panel < end; ++panel) {
        PreparedPanel prepared[2];
        for (int part = 0; part < parts; ++part) {
            const GrusMatrix& mine = part && job.up ? *job.up : m;
            const int64_t at = panel + (part && !job.up ? job.units() : 0);
            prepared[part] = prepare_panel(job, mine, expert, at, panel + 1 == end, count, rooms[part]);
        }
        for (int64_t t = 0; t < count;) {
            const int n = job.width(count - t);
            for (int part = 0; part < parts; ++part)
                run_tile(job, prepared[part], n, t, count, out + part * n * kRows, layout);
            if (job.gate) job.gate->run(job.tier, out, out + n * kRows, n * kRows, gated);
            if (job.each) job.each(out, n * kRows, out);
            const float* made = job.gate ? gated : out;
            for (int i = 0; i < n; ++i, ++t) put(job, panel, x_first + t, made + i * kRows);
        }
    }
    if (layout.tokens) job.tier.unit->end();
}

// As many tokens at once as keep their activations in a core's second-level cache.
constexpr int64_t kCacheBytes = 512 * 1024;
constexpr int64_t kUnitCacheBytes = 1024 * 1024;  // a matrix unit is fed faster than memory gives weights

void run_group(MatmulJob& job, const ExpertGroup& group) {
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

MatmulJob make_job(const GrusMatrix& m, const GrusMatrix* up, const Gate* gate, const float* x, int64_t x_stride, float* y, int64_t y_stride,
           int threads, int64_t tokens) {
    const Tier& tier = current_tier();
    const bool expanded = m.row_bytes && tokens >= kFewestToExpand && !(m.format.code == Code::BF16 && tier.bf16);
    return {m, up, gate, tier, Panel(m.format, m.columns), x, x_stride, nullptr, y, y_stride, nullptr, threads, m.bf12,
            up ? up->bf12 : nullptr, expanded, {}, nullptr};
}

// -- many groups at once: pieces of all of them are shared among threads, since each alone is small

constexpr int64_t kGroupBytes = 16 << 20;  // of activations that are prepared at once
constexpr int64_t kGroupPanelBytes = 1 << 14;  // of panels, see `run_group`

struct GroupedJob {
    MatmulJob job;
    const ExpertGroup* group;
    int64_t first_tile, first_unit, bytes;
    bool shares;  // the activations of the job before: of one row for all experts that a token chose
};

MatmulJob job_of(const ExpertMatrices& all, const Gate* gate, const ExpertGroup& group, const GroupedRows& rows, int threads) {
    const GrusMatrix *m = all.of(group.expert, 0), *up = gate && all.count == 2 ? all.of(group.expert, 1) : nullptr;
    MatmulJob job = make_job(*m, up, gate, rows.x, rows.x_stride, rows.y, rows.y_stride, threads, group.count);
    job.x_rows = rows.x_rows;
    job.y_rows = rows.y_rows;
    return job;
}

// Whether quantized activations of `one` are those of `other`, too.
bool same_activations(const GroupedJob& one, const GroupedJob& other) {
    const MatmulJob &a = one.job, &b = other.job;
    const Format &f = a.m.format, &g = b.m.format;
    return a.x_rows && one.group->count == 1 && other.group->count == 1 && a.x_rows[one.group->first] == b.x_rows[other.group->first] &&
           !f.dense() && f.code == g.code && f.halves == g.halves && f.offset == g.offset && f.table == g.table;
}

void run_grouped(std::vector<GroupedJob>& jobs, const ExpertMatrices& all, int threads) {
    if (jobs.empty()) return;
    static thread_local Scratch scratch;
    int64_t tiles = 0, units = 0, bytes = 0;
    for (size_t i = 0; i < jobs.size(); ++i) {
        GroupedJob& one = jobs[i];
        const int64_t widest = one.job.widest();
        one.shares = i > 0 && same_activations(one, jobs[i - 1]);
        one.first_tile = tiles, one.first_unit = units;
        units += one.job.units();
        if (!one.shares) tiles += (one.group->count + widest - 1) / widest, bytes += one.bytes;
    }
    uint8_t* memory = scratch.at_least(bytes);
    for (size_t i = 0; i < jobs.size(); ++i) {
        GroupedJob& one = jobs[i];
        if (one.shares) {
            one.job.act = jobs[i - 1].job.act;
            continue;
        }
        one.job.place(memory, one.group->count);
        memory += one.bytes;
    }
    const auto next = [&](int64_t GroupedJob::*first, int64_t at) {
        const auto found = std::upper_bound(jobs.begin(), jobs.end(), at, [&](int64_t place, const GroupedJob& one) { return place < one.*first; });
        return static_cast<size_t>(found - jobs.begin() - 1);
    };
    parallel(tiles, 1, tiles < 16 ? 1 : threads, [&](int64_t from, int64_t to) {
        for (size_t i = next(&GroupedJob::first_tile, from); i < jobs.size() && jobs[i].first_tile < to; ++i) {
            const GroupedJob& one = jobs[i];
            if (one.shares) continue;
            const int64_t widest = one.job.widest(), end = std::min(one.group->count, (to - one.first_tile) * widest);
            for (int64_t at = std::max<int64_t>(0, from - one.first_tile) * widest; at < end;) {
                const int n = one.job.width(one.group->count - at);
                prepare_tile(one.job, one.group->first + at, at, n);
                at += n;
            }
        }
    });
    const int64_t grain = kGroupPanelBytes / jobs[0].job.panel.bytes + 1;
    parallel(units, grain, threads, [&](int64_t from, int64_t to) {
        for (size_t i = next(&GroupedJob::first_unit, from); i < jobs.size() && jobs[i].first_unit < to; ++i) {
            const GroupedJob& one = jobs[i];
            const int64_t begin = std::max<int64_t>(0, from - one.first_unit), end = std::min(one.job.units(), to - one.first_unit);
            run_panels(one.job, all.apart ? 0 : one.group->expert, begin, end, one.group->count, one.group->first);
        }
    });
    jobs.clear();
}

// A group large enough to be a product of its own, from rows side by side to rows side by side.
void run_prompt_group(const ExpertMatrices& all, const Gate* gate, const ExpertGroup& group, const GroupedRows& rows, int threads) {
    static thread_local Scratch gathered;
    const GrusMatrix *m = all.of(group.expert, 0), *up = gate && all.count == 2 ? all.of(group.expert, 1) : nullptr;
    const float* x = rows.x + group.first * rows.x_stride;
    int64_t stride = rows.x_stride;
    if (rows.x_rows) {
        float* own = reinterpret_cast<float*>(gathered.at_least(group.count * m->columns * 4));
        for (int64_t i = 0; i < group.count; ++i)
            std::memcpy(own + i * m->columns, rows.x + rows.x_rows[group.first + i] * rows.x_stride, static_cast<size_t>(m->columns) * 4);
        x = own, stride = m->columns;
    }
    multiply_prompt(current_tier(), *m, up, gate, all.apart ? 0 : group.expert, x, group.count, stride,
                    rows.y + group.first * rows.y_stride, rows.y_stride, threads);
}

}  // namespace

void multiply(const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, int threads,
              RowFunction each) {
    const Tier& tier = current_tier();
    if (m.halves && tokens <= tier.tile) return multiply(*m.halves, x, tokens, x_stride, y, y_stride, threads, each);
    const bool thirds = uses_bf16x3(tier, m, tokens);
    if (!thirds && !uses_prompt_product(tier, m, tokens)) {
        MatmulJob job = make_job(m, nullptr, nullptr, x, x_stride, y, y_stride, threads, tokens);
        job.each = each;
        return run_group(job, {0, 0, tokens});
    }
    if (thirds) multiply_bf16x3(tier, m, x, tokens, x_stride, y, y_stride, threads);
    else multiply_prompt(tier, m, nullptr, nullptr, 0, x, tokens, x_stride, y, y_stride, threads);
    if (!each) return;
    parallel(tokens, 1, threads, [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t) each(y + t * y_stride, m.rows, y + t * y_stride);
    });
}

void multiply_gated(const GrusMatrix& m, const GrusMatrix* up, const Gate& gate, const float* x, int64_t tokens, int64_t x_stride, float* y,
                    int64_t y_stride, int threads) {
    if (uses_prompt_product(current_tier(), m, tokens))
        return multiply_prompt(current_tier(), m, up, &gate, 0, x, tokens, x_stride, y, y_stride, threads);
    MatmulJob job = make_job(m, up, &gate, x, x_stride, y, y_stride, threads, tokens);
    run_group(job, {0, 0, tokens});
}

void multiply_each(const GrusMatrix& m, const float* x, int64_t x_apart, int64_t tokens, int64_t x_stride, float* y, int64_t y_apart,
                   int64_t y_stride, int threads) {
    parallel(m.experts, 1, threads, [&](int64_t begin, int64_t end) {
        for (int64_t e = begin; e < end; ++e) {
            MatmulJob job = make_job(m, nullptr, nullptr, x + e * x_apart, x_stride, y + e * y_apart, y_stride, 1, tokens);
            run_group(job, {e, 0, tokens});
        }
    });
}

void multiply_experts(const ExpertMatrices& all, const Gate* gate, const ExpertGroup* groups, int64_t count, const GroupedRows& rows, int threads) {
    if (!gate && all.count > 1) {  // parts of several formats: each writes its columns
        GroupedRows part = rows;
        for (int64_t i = 0; i < all.count; part.y += all.of(0, i)->rows, ++i)
            multiply_experts({all.matrices + i, all.each, 1, all.apart}, nullptr, groups, count, part, threads);
        return;
    }
    static thread_local std::vector<GroupedJob> jobs;
    static thread_local std::vector<const ExpertGroup*> prompts;
    jobs.clear();
    prompts.clear();
    int64_t bytes = 0, rounded_bytes = 0;
    for (const ExpertGroup* group = groups; group < groups + count; ++group) {
        const GrusMatrix& first = *all.of(group->expert, 0);
        if (!rows.y_rows && uses_prompt_product_of_expert(current_tier(), first, group->count)) {
            if (group->count > kMostOfExpert) {
                run_prompt_group(all, gate, *group, rows, threads);
                continue;
            }
            prompts.push_back(group);
            rounded_bytes += 2 * group->count * first.columns;
            if (rounded_bytes > kGroupBytes) {
                multiply_prompts(current_tier(), all, gate, prompts.data(), static_cast<int64_t>(prompts.size()), rows, threads);
                prompts.clear();
                rounded_bytes = 0;
            }
            continue;
        }
        MatmulJob job = job_of(all, gate, *group, rows, threads);
        const int64_t own = rounded(job.bytes(group->count), 64);
        if (own > kGroupBytes / 4) {
            run_group(job, all.apart ? ExpertGroup{0, group->first, group->count} : *group);
            continue;
        }
        if (bytes + own > kGroupBytes) {
            run_grouped(jobs, all, threads);
            bytes = 0;
        }
        jobs.push_back({job, group, 0, 0, own, false});
        bytes += own;
    }
    run_grouped(jobs, all, threads);
    if (!prompts.empty()) multiply_prompts(current_tier(), all, gate, prompts.data(), static_cast<int64_t>(prompts.size()), rows, threads);
}

std::vector<ExpertGroup> groups_of(const int64_t* experts, int64_t pairs) {
    std::vector<ExpertGroup> groups;
    for (int64_t i = 0, end; i < pairs; i = end) {
        for (end = i + 1; end < pairs && experts[end] == experts[i]; ++end) {}
        groups.push_back({experts[i], i, end - i});
    }
    return groups;
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
    const std::vector<ExpertGroup> groups = groups_of(experts, pairs);
    multiply_experts({&m, 1, 1, false}, nullptr, groups.data(), static_cast<int64_t>(groups.size()), {x, x_stride, x_rows, y, y_stride, y_rows}, threads);
}

}  // extern "C"
