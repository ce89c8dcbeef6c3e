// Convolutions in blocks of three taps (winograd.hpp). Each thread takes some groups of four outputs, brings the inputs that they read
// to their values at the points, which then stay in its second-level cache, and goes through all weights.
#include <algorithm>

#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "conv/conv.hpp"

namespace grus {
namespace {

constexpr int64_t kNearValues = 3 << 17;  // bytes of inputs' values
constexpr int64_t kMostGroups = 96;
constexpr int64_t kUnitsOfThread = 4;
constexpr int64_t kMostRows = 96;  // that one group reads
constexpr float kNoBias[2 * kRows] = {};

// Four outputs of a stream, `dilation` apart, or as many as there are.
struct Group {
    const Stream* stream;
    int64_t first;  // among the positions of the piece
};

struct BlockConvolution {
    const Convolution& all;
    const Tier& tier;
    int threads;
    const Conv& conv = all.conv;
    const ConvChunk& piece = all.piece;
    const bool rounded = static_cast<ConvForm>(conv.form) == ConvForm::Bf16Blocks;
    const int64_t n = conv.inputs, words = rounded ? n / 2 : n, blocks = (conv.taps + kBlockTaps - 1) / kBlockTaps;
    const int64_t depth = blocks * words;  // of a group's values at a point
    const int64_t apart = depth + kRows;   // a line's gap: rows a power of two apart would compete for one place in a cache
    const int64_t width = all.panels() * kRows;
    const int64_t reads = kBlockTaps * blocks + kBlockOutputs - 1;  // rows of inputs of a group
    const ConvKernel (*kernels)[2] = rounded ? tier.bf16_conv->tile : tier.conv;

    std::vector<Group> groups() const {
        std::vector<Group> made;
        // Some neighbours of a phase, then those of the next phase that lie between them: what a unit reads and writes is one stretch.
        const int64_t step = kBlockOutputs * conv.dilation, stretch = step * std::max<int64_t>(kMostGroups / conv.dilation, 1);
        for (const Stream& s : all.streams)
            for (int64_t begin = 0; begin < s.length; begin += stretch)
                for (int64_t phase = begin; phase < std::min(begin + conv.dilation, s.length); ++phase)
                    for (int64_t t = phase; t < std::min(begin + stretch, s.length); t += step) made.push_back({&s, t});
        return made;
    }

    void run() const {
        all.remember(tier);
        const std::vector<Group> made = groups();
        const int64_t total = static_cast<int64_t>(made.size());
        int64_t most = std::min({kMostGroups, kNearValues / (kBlockPoints * depth * 4), total / (kUnitsOfThread * threads)});
        most = up(std::max<int64_t>(most, 1), tier.positions);
        const int64_t units = (total + most - 1) / most;
        parallel(units, 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t unit = begin; unit < end; ++unit) {
                const int64_t first = total * unit / units;
                compute(made.data() + first, total * (unit + 1) / units - first);
            }
        });
    }

    void compute(const Group* made, int64_t many) const {
        static thread_local Scratch of_values, of_products;
        float* values = reinterpret_cast<float*>(of_values.at_least(kBlockPoints * many * apart * 4));
        float* products = reinterpret_cast<float*>(of_products.at_least(kBlockPoints * many * width * 4));
        read(made, many, values);
        for (int64_t point = 0; point < kBlockPoints; ++point) {
            for (int64_t panel = 0; panel < all.panels(); panel += tier.panels)
                multiply(values + point * many * apart, many, point, panel, products + point * many * width + panel * kRows);
        }
        for (int64_t i = 0; i < many; ++i)
            for (int64_t column = 0; column < width; column += kRows) write(products + i * width + column, many * width, made[i], column);
    }

    // Neighbouring groups share all rows but the last four.
    void read(const Group* made, int64_t many, float* values) const {
        static thread_local Scratch scratch;
        float* room = reinterpret_cast<float*>(scratch.at_least(reads * n * 4));
        float* rows[kMostRows];
        for (int64_t k = 0; k < reads; ++k) rows[k] = room + k * n;
        for (int64_t i = 0; i < many; ++i) {
            const Group& group = made[i];
            const bool follows =
                i && group.stream == made[i - 1].stream && group.first == made[i - 1].first + kBlockOutputs * conv.dilation;
            if (follows) std::rotate(rows, rows + kBlockOutputs, rows + reads);
            for (int64_t k = follows ? reads - kBlockOutputs : 0; k < reads; ++k)
                all.input(tier, *group.stream, group.first + k * conv.dilation - all.back, rows[k]);
            for (int64_t block = 0; block < blocks; ++block) {
                const auto input = rounded ? tier.bf16_conv->block_input : tier.block_input;
                input(rows + block * kBlockTaps, n, values + i * apart + block * words, many * apart);
            }
        }
    }

    void multiply(const float* values, int64_t many, int64_t point, int64_t panel, float* products) const {
        const int64_t wide = std::min<int64_t>(tier.panels, all.panels() - panel);
        const int64_t size = kBlockPoints * depth * kRows, tiles = (many + tier.positions - 1) / tier.positions;
        const float* w = all.floats() + panel * size + point * depth * kRows;
        for (int64_t tile = 0; tile < tiles; ++tile) {
            const int64_t at = many * tile / tiles, count = many * (tile + 1) / tiles - at;
            const auto prefetch = all.prefetch(w, depth * kRows, tile, tiles);
            kernels[count - 1][wide - 1]({values + at * apart, w, 1, depth, 0, apart, size, kNoBias, nullptr, products + at * width, width,
                                          wide * kRows, prefetch.from, prefetch.bytes});
        }
    }

    void write(const float* products, int64_t point, const Group& group, int64_t column) const {
        const Stream& s = *group.stream;
        const int64_t left = (s.length - group.first + conv.dilation - 1) / conv.dilation;
        const int64_t at = (s.at + group.first) * conv.outputs + column;
        tier.block_output({products, point, conv.bias + column, piece.add ? piece.add + at : nullptr, piece.y + at,
                           conv.dilation * conv.outputs, std::min(kBlockOutputs, left), conv.outputs - column});
    }
};

}  // namespace

void convolve_blocks(const Convolution& all, const Tier& tier, int threads) { BlockConvolution{all, tier, threads}.run(); }

}  // namespace grus

using namespace grus;

extern "C" {

// Weights [count][taps] as their values at the points, [count][points][blocks], in f32.
GRUS_API void grus_conv_block_weights(const float* w, int64_t count, int64_t taps, float* to) {
    const int64_t blocks = (taps + kBlockTaps - 1) / kBlockTaps;
    for (int64_t i = 0; i < count; ++i)
        for (int64_t point = 0; point < kBlockPoints; ++point)
            for (int64_t block = 0; block < blocks; ++block) {
                double value = 0.0;
                for (int64_t tap = 0; tap < std::min(kBlockTaps, taps - block * kBlockTaps); ++tap)
                    value += block_weight_at(point, tap) * static_cast<double>(w[i * taps + block * kBlockTaps + tap]);
                to[(i * kBlockPoints + point) * blocks + block] = static_cast<float>(value);
            }
}

}  // extern "C"
