// Work split of f32 products by the bf16x3 split (see UnitBf16x3). Tokens are split once, in portions that stay in a core's
// second-level cache; each thread then takes two panels of sixteen weight rows at a time, splits them, and goes through the tokens.
#include "matmul/matmul.hpp"

#include <algorithm>

#include "common/scratch.hpp"
#include "common/thread_pool.hpp"

namespace grus {
namespace {

constexpr int64_t kFewest = 32;       // tokens; below, splitting the weights takes as long as the vector units' products
constexpr int64_t kNear = 9 << 17;    // bytes of split tokens
constexpr int64_t kMostBlocks = 16;   // of columns that are split at once
constexpr int64_t kWidth = 2 * kRows;

int64_t parts(int64_t whole, int64_t most) { return (whole + most - 1) / most; }

struct Product {
    const UnitBf16x3Kernels& unit;
    const MatrixUnit& matrix_unit;
    const GrusMatrix& m;
    const float* x;
    int64_t x_stride;
    float* y;
    int64_t y_stride;
    int threads;

    // Columns first .. first + count * 32 of tokens `from` .. `to`.
    struct Chunk {
        int64_t from, to, first, count;
        int64_t columns(const GrusMatrix& m) const { return std::min(count * kBlock, m.columns - first); }
    };

    void run(int64_t tokens) const {
        const int64_t blocks = parts(m.columns, kBlock), each = parts(blocks, parts(blocks, kMostBlocks));
        const int64_t most = std::max<int64_t>(kNear / (each * kBf16x3Block * 2 / kRows) / kWidth, 1) * kWidth;
        const int64_t share = parts(parts(tokens, parts(tokens, most)), kWidth) * kWidth;
        for (int64_t t = 0; t < tokens; t += share)
            for (int64_t block = 0; block < blocks; block += each)
                run_piece({t, std::min(tokens, t + share), block * kBlock, std::min(each, blocks - block)});
    }

    void run_piece(const Chunk& p) const {
        static thread_local Scratch scratch;
        const int64_t tiles = parts(p.to - p.from, kRows), tile = p.count * kBf16x3Block;
        uint16_t* split = reinterpret_cast<uint16_t*>(scratch.at_least(tiles * tile * 2));
        parallel(tiles, 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t t = p.from + i * kRows;
                unit.split({x + t * x_stride + p.first, x_stride, std::min<int64_t>(kRows, p.to - t), p.columns(m)}, split + i * tile);
            }
        });
        // Two spans of tokens each, where there are few outputs: all threads shall have work until the end.
        const int64_t pairs = parts(m.rows, kWidth), spans = pairs < 16 * threads && tiles >= 8 ? 2 : 1;
        const int64_t span = parts(parts(tiles, spans), 2) * 2;
        parallel(pairs * spans, 1, threads, [&](int64_t begin, int64_t end) {
            static thread_local Scratch room;
            uint16_t* w = reinterpret_cast<uint16_t*>(room.at_least(2 * tile * 2));
            matrix_unit.begin(64, kRows);
            for (int64_t i = begin; i < end; ++i) {
                const int64_t row = i / spans * kWidth, first = i % spans * span;
                if (i == begin || first == 0) split_weights(p, row, w);
                multiply(p, row, w, split, first, std::min(tiles, first + span));
            }
            matrix_unit.end();
        });
    }

    void split_weights(const Chunk& p, int64_t row, uint16_t* w) const {
        for (int64_t panel = 0; panel < 2; ++panel, row += kRows) {
            const int64_t rows = std::clamp<int64_t>(m.rows - row, 0, kRows);
            const float* from = reinterpret_cast<const float*>(m.data + row * m.row_bytes) + p.first;
            unit.split_transposed({from, m.row_bytes / 4, rows, p.columns(m)}, w + panel * p.count * kBf16x3Block);
        }
    }

    void multiply(const Chunk& p, int64_t row, const uint16_t* w, const uint16_t* split, int64_t first, int64_t last) const {
        static constexpr float nothing[kWidth] = {};
        alignas(64) float edge[kWidth * kWidth];  // where y has no room for whole tiles
        const int64_t tile = p.count * kBf16x3Block, outputs = std::min(m.rows - row, kWidth);
        for (int64_t i = first; i < last; i += 2) {
            const int64_t t = p.from + i * kRows, tokens = std::min(p.to - t, kWidth);
            UnitBf16x3 both{split + i * tile, w, tile, tile, std::min<int64_t>(2, last - i), parts(outputs, kRows), p.count,
                            m.bias ? m.bias + row : nothing, p.first == 0, y + t * y_stride + row, y_stride};
            if (tokens == both.tiles * kRows && outputs == both.panels * kRows) {
                unit.multiply(both);
                continue;
            }
            float* to = both.y;
            for (int64_t j = 0; !both.first && j < tokens; ++j) std::copy_n(to + j * y_stride, outputs, edge + j * kWidth);
            both.y = edge;
            both.y_stride = kWidth;
            unit.multiply(both);
            for (int64_t j = 0; j < tokens; ++j) std::copy_n(edge + j * kWidth, outputs, to + j * y_stride);
        }
    }
};

}  // namespace

bool uses_bf16x3(const Tier& tier, const GrusMatrix& m, int64_t tokens) {
    return tier.unit && m.row_bytes && m.row_bytes % 4 == 0 && m.format.code == Code::F32 && tokens >= kFewest;
}

void multiply_bf16x3(const Tier& tier, const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y,
                        int64_t y_stride, int threads) {
    Product{*tier.unit->bf16x3, *tier.unit, m, x, x_stride, y, y_stride, threads}.run(tokens);
}

}  // namespace grus
