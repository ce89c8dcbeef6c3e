// Work split of prompt products on the matrix unit (see UnitPrompt). Activations are rounded to bf16 once, in portions that stay in a
// core's second-level cache; each thread then dequantizes two panels of weights to bf16 at a time, and goes through the tokens.
#include "matmul/matmul.hpp"

#include <algorithm>

#include "common/compiler.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"

namespace grus {
namespace {

constexpr int64_t kFewest = 64;      // tokens; below, see `uses_prompt_product`
constexpr int64_t kNear = 3 << 19;   // bytes of rounded tokens
constexpr int64_t kMostBlocks = 64;  // of columns that are made bf16 at once; a multiple of what shares a scale
constexpr int64_t kWidth = 2 * kRows;
constexpr int64_t kTile = kRows * kBlock;  // numbers of a block of sixteen rows

int64_t parts(int64_t whole, int64_t most) { return (whole + most - 1) / most; }

struct Prompt {
    const Tier& tier;
    const GrusMatrix& m;
    const GrusMatrix* up;
    const Gate* gate;
    int64_t expert;
    const float* x;
    int64_t x_stride;
    float* y;
    int64_t y_stride;
    int threads;
    Panel layout;

    // Blocks first .. first + count of tokens `from` .. `to`.
    struct Chunk { int64_t from, to, first, count; };
    struct Place { const GrusMatrix& m; int64_t panel; };
    struct PanelScratch {
        uint16_t* w;
        float* scales;
        uint8_t* panel;
    };

    int64_t panels() const { return gate && !up ? panels_of(m) / 2 : panels_of(m); }  // of results
    int64_t pairs() const { return gate ? panels() : parts(panels(), 2); }
    int64_t width() const { return gate ? kRows : kWidth; }  // results of a pair
    // A gate panel with its up panel, else neighbours.
    Place place(int64_t pair, int64_t side) const {
        if (!gate) return {m, 2 * pair + side};
        return side && up ? Place{*up, pair} : Place{m, pair + side * panels()};
    }

    void run(int64_t tokens) const {
        const int64_t blocks = layout.blocks;
        const int64_t each = gate ? blocks : rounded(parts(blocks, parts(blocks, kMostBlocks)), m.format.blocks_per_scale);
        const int64_t most = std::max<int64_t>(kNear / (each * kTile * 2) / 2, 1) * kWidth;
        const int64_t share = parts(parts(tokens, parts(tokens, most)), kWidth) * kWidth;
        for (int64_t t = 0; t < tokens; t += share)
            for (int64_t block = 0; block < blocks; block += each)
                run_piece({t, std::min(tokens, t + share), block, std::min(each, blocks - block)});
    }

    void run_piece(const Chunk& p) const {
        static thread_local Scratch scratch;
        const int64_t tiles = parts(p.to - p.from, kRows), tile = p.count * kTile, first = p.first * kBlock;
        uint16_t* near = reinterpret_cast<uint16_t*>(scratch.at_least(tiles * tile * 2));
        parallel(tiles, 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t t = p.from + i * kRows;
                tier.unit->prompts->round({x + t * x_stride + first, x_stride, std::min<int64_t>(kRows, p.to - t),
                                           std::min(p.count * kBlock, m.columns - first)}, near + i * tile);
            }
        });
        parallel(pairs(), 1, threads, [&](int64_t begin, int64_t end) {
            static thread_local Scratch memory;
            const int64_t scales = layout.blocks * m.format.halves * (1 + m.format.minima) * kRows;
            uint8_t* bytes = memory.at_least(2 * tile * 2 + scales * 4 + layout.bytes);
            float* floats = reinterpret_cast<float*>(bytes + 2 * tile * 2);
            const PanelScratch room{reinterpret_cast<uint16_t*>(bytes), floats, reinterpret_cast<uint8_t*>(floats + scales)};
            tier.unit->begin(64, kRows);
            for (int64_t pair = begin; pair < end; ++pair) run_pair(p, pair, near, pair + 1 < end, room);
            tier.unit->end();
        });
    }

    // Whether this panel was packed before.
    bool weigh(const Chunk& p, const Place& at, const PanelScratch& room, uint16_t* w) const {
        const Format& f = at.m.format;
        const uint8_t* data = panel_of(at.m, layout, expert, at.panel, room.panel);
        tier.expand(f, layout, data, room.scales);
        const float* scales = room.scales + p.first * f.halves * (1 + f.minima) * kRows;
        const uint8_t* codes = data + layout.codes + p.first * code_bytes(f.code);
        tier.unit->prompts->weigh[static_cast<int>(f.code)](
            {codes, scales, p.count, f.halves, f.minima, f.offset, values_of(f.table)}, w);
        return data != room.panel;
    }

    void run_pair(const Chunk& p, int64_t pair, const uint16_t* near, bool followed, const PanelScratch& room) const {
        static constexpr float nothing[kRows] = {};
        const int64_t tiles = parts(p.to - p.from, kRows), tile = p.count * kTile;
        const int64_t sides = gate ? 2 : std::min<int64_t>(2, panels() - 2 * pair);
        UnitPrompt in{near, room.w, tile, tile, 0, sides, p.count, {nothing, nothing}, p.first == 0, {}, 0};
        for (int64_t side = 0; side < sides; ++side) {
            const Place at = place(pair, side);
            followed &= weigh(p, at, room, room.w + side * tile);
            if (at.m.bias) in.bias[side] = at.m.bias + (expert * panels_of(at.m) + at.panel) * kRows;
        }
        for (int64_t i = 0; i < tiles; i += 2) {
            if (followed) prefetch(pair + 1, i, tiles);
            in.x = near + i * tile;
            in.tiles = std::min<int64_t>(2, tiles - i);
            multiply(p.from + i * kRows, std::min(p.to - p.from - i * kRows, kWidth), pair, in);
        }
    }

    // Prefetches a part of the next pair's panels.
    void prefetch(int64_t pair, int64_t done, int64_t of) const {
        for (int64_t side = 0; side < 2; ++side) {
            const Place at = place(pair, side);
            if (at.panel >= panels_of(at.m)) continue;
            const uint8_t* data = panel_at(at.m, layout, expert, at.panel);
            for (int64_t i = layout.bytes * done / of / 64; i < layout.bytes * (done + 2) / of / 64; ++i) PREFETCH(data + 64 * i);
        }
    }

    // Tokens t .. t + tokens; where `y` has no room for whole tiles, or wants the gate's product, by way of a small square.
    void multiply(int64_t t, int64_t tokens, int64_t pair, UnitPrompt& in) const {
        alignas(64) float square[2][kWidth * kRows], made[kWidth * kRows];
        float* to = y + t * y_stride + pair * width();
        const int64_t rows = gate && !up ? panels() * kRows : m.rows, outputs = std::min(rows - pair * width(), width());
        if (!gate && tokens == in.tiles * kRows && outputs == in.panels * kRows) {
            in.y[0] = to, in.y[1] = to + kRows, in.y_stride = y_stride;
            tier.unit->prompts->multiply(in);
            return;
        }
        in.y[0] = square[0], in.y[1] = square[1], in.y_stride = kRows;
        const int64_t beside = std::max<int64_t>(outputs - kRows, 0);
        for (int64_t j = 0; !in.first && j < tokens; ++j) {
            std::copy_n(to + j * y_stride, outputs - beside, square[0] + j * kRows);
            std::copy_n(to + j * y_stride + kRows, beside, square[1] + j * kRows);
        }
        tier.unit->prompts->multiply(in);
        if (gate) gate->run(tier, square[0], square[1], tokens * kRows, made);
        for (int64_t j = 0; j < tokens; ++j) {
            std::copy_n((gate ? made : square[0]) + j * kRows, outputs - beside, to + j * y_stride);
            std::copy_n(square[1] + j * kRows, beside, to + j * y_stride + kRows);
        }
    }
};

}  // namespace

// Making weights bf16 takes as long as multiplying them with some forty tokens.
bool uses_prompt_product(const Tier& tier, const GrusMatrix& m, int64_t tokens) {
    return tier.unit && !m.row_bytes && (!m.format.dense() || m.format.code == Code::F8) && tokens >= kFewest;
}

void multiply_prompt(const Tier& tier, const GrusMatrix& m, const GrusMatrix* up, const Gate* gate, int64_t expert, const float* x,
                     int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, int threads) {
    Prompt{tier, m, up, gate, expert, x, x_stride, y, y_stride, threads, Panel(m.format, m.columns)}.run(tokens);
}

}  // namespace grus
