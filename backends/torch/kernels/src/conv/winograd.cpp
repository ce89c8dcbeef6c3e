// Work split of Winograd convolutions (winograd.hpp). Each thread takes some positions: it transforms their inputs, which then stay in
// its second-level cache, and goes through all weights.
#include <algorithm>

#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "conv/conv.hpp"

namespace grus {
namespace {

constexpr int64_t kNearValues = 1 << 20;  // bytes of inputs' values
constexpr int64_t kMostOutputTiles = 64;        // whose products stay in the first-level cache, or nearly

struct Weights {
    double at[kWinogradPoints][kWinogradTaps];
};
constexpr Weights weights() {
    Weights made{};
    for (int64_t point = 0; point < kWinogradPoints; ++point)
        for (int64_t tap = 0; tap < kWinogradTaps; ++tap) made.at[point][tap] = weight_at(point, tap);
    return made;
}

constexpr float kNothing[2 * kRows] = {};  // the bias of products

// Up to output_tile outputs of a stream, `dilation` apart.
struct OutputTile {
    const Stream* stream;
    int64_t first;  // among the positions of the piece
};

struct WinogradConv {
    const Convolution& all;
    const Tier& tier;
    int threads;
    const Conv& conv = all.conv;
    const ConvChunk& piece = all.piece;
    const int64_t n = conv.inputs;

    std::vector<OutputTile> output_tiles() const {
        std::vector<OutputTile> made;
        for (const Stream& s : all.streams)
            for (int64_t phase = 0; phase < std::min(conv.dilation, s.length); ++phase)
                for (int64_t t = phase; t < s.length; t += kWinogradOutputs * conv.dilation) made.push_back({&s, t});
        return made;
    }

    void run() const {
        all.remember(tier);
        const std::vector<OutputTile> all_tiles = output_tiles();
        const int64_t total = static_cast<int64_t>(all_tiles.size());
        const int64_t most = std::min(kMostOutputTiles, std::max<int64_t>(kNearValues / (kWinogradPoints * n * 4), tier.positions));
        const int64_t rounds = (total + most * threads - 1) / (most * threads), blocks = std::min(total, rounds * threads);
        parallel(blocks, 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t block = begin; block < end; ++block) {
                const int64_t first = total * block / blocks;
                compute(all_tiles.data() + first, total * (block + 1) / blocks - first);
            }
        });
    }

    void compute(const OutputTile* output_tiles, int64_t many) const {
        static thread_local Scratch of_values, of_products;
        float* values = reinterpret_cast<float*>(of_values.at_least(kWinogradPoints * many * n * 4));
        float* products = reinterpret_cast<float*>(of_products.at_least(kWinogradPoints * many * 2 * kRows * 4));
        winograd_input(output_tiles, many, values);
        for (int64_t panel = 0; panel < all.panels(); panel += tier.panels) {
            const int64_t wide = std::min<int64_t>(tier.panels, all.panels() - panel);
            for (int64_t point = 0; point < kWinogradPoints; ++point)
                multiply(values + point * many * n, many, point, panel, wide, products + point * many * wide * kRows);
            for (int64_t i = 0; i < many; ++i)
                for (int64_t p = 0; p < wide; ++p)
                    winograd_output(products + (i * wide + p) * kRows, many * wide * kRows, output_tiles[i], (panel + p) * kRows);
        }
    }

    // Of ten rows of inputs that output_tile outputs need, the next output_tile need six again.
    void winograd_input(const OutputTile* output_tiles, int64_t many, float* values) const {
        static thread_local Scratch scratch;
        float* rows[kWinogradPoints];
        for (int64_t k = 0; k < kWinogradPoints; ++k) rows[k] = reinterpret_cast<float*>(scratch.at_least(kWinogradPoints * n * 4)) + k * n;
        for (int64_t i = 0; i < many; ++i) {
            const OutputTile& output_tile = output_tiles[i];
            const bool follows = i && output_tile.stream == output_tiles[i - 1].stream &&
                                 output_tile.first == output_tiles[i - 1].first + kWinogradOutputs * conv.dilation;
            if (follows) std::rotate(rows, rows + kWinogradOutputs, rows + kWinogradPoints);
            for (int64_t k = follows ? kWinogradPoints - kWinogradOutputs : 0; k < kWinogradPoints; ++k) {
                const int64_t t = output_tile.first + k * conv.dilation - all.back;
                all.input(tier, *output_tile.stream, t, rows[k]);
            }
            tier.winograd_input(rows, n, values + i * n, many * n);
        }
    }

    void multiply(const float* values, int64_t many, int64_t point, int64_t panel, int64_t wide, float* products) const {
        const int64_t size = kWinogradPoints * n * kRows, tiles = (many + tier.positions - 1) / tier.positions;
        const float* w = all.floats() + panel * size + point * n * kRows;
        for (int64_t tile = 0; tile < tiles; ++tile) {
            const int64_t at = many * tile / tiles, count = many * (tile + 1) / tiles - at;
            const auto prefetch = all.prefetch(w, n * kRows, tile, tiles);
            tier.conv[count - 1][wide - 1]({values + at * n, w, 1, n, 0, n, size, kNothing, nullptr,
                                            products + at * wide * kRows, wide * kRows, wide * kRows, prefetch.from, prefetch.bytes});
        }
    }

    void winograd_output(const float* products, int64_t point, const OutputTile& output_tile, int64_t column) const {
        const Stream& s = *output_tile.stream;
        const int64_t left = (s.length - output_tile.first + conv.dilation - 1) / conv.dilation;
        const int64_t at = (s.at + output_tile.first) * conv.outputs + column;
        tier.winograd_output({products, point, conv.bias + column, piece.add ? piece.add + at : nullptr, piece.y + at,
                          conv.dilation * conv.outputs, std::min(kWinogradOutputs, left), conv.outputs - column});
    }
};

}  // namespace

void convolve_winograd(const Convolution& all, const Tier& tier, int threads) { WinogradConv{all, tier, threads}.run(); }

}  // namespace grus

using namespace grus;

extern "C" {

// Weights [outputs][inputs][7] as their values at the points, as `Conv` wants them, into zeros.
GRUS_API void grus_conv_winograd_weights(const float* w, int64_t outputs, int64_t inputs, float* to, int32_t threads) {
    static constexpr Weights kWeights = weights();
    parallel((outputs + kRows - 1) / kRows, 1, threads, [&](int64_t begin, int64_t end) {
        for (int64_t output = begin * kRows; output < std::min(end * kRows, outputs); ++output) {
            float* panel = to + output / kRows * kWinogradPoints * inputs * kRows + output % kRows;
            for (int64_t i = 0; i < inputs; ++i) {
                const float* from = w + (output * inputs + i) * kWinogradTaps;
                for (int64_t point = 0; point < kWinogradPoints; ++point) {
                    double value = 0.0;
                    for (int64_t tap = 0; tap < kWinogradTaps; ++tap) value += kWeights.at[point][tap] * static_cast<double>(from[tap]);
                    panel[(point * inputs + i) * kRows] = static_cast<float>(value);
                }
            }
        }
    });
}

}  // extern "C"
