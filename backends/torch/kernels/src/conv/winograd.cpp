// Who computes which part of a convolution by points (winograd.hpp). Each thread takes some positions: it makes their inputs'
// values, which stay in its second-level cache, and goes through all weights.
#include <algorithm>

#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "conv/conv.hpp"

namespace grus {
namespace {

constexpr int64_t kNearValues = 1 << 20;  // bytes of inputs' values
constexpr int64_t kMostFours = 64;        // whose products stay in the first-level cache, or nearly

struct Weights {
    double at[kPoints][kPointTaps];
};
constexpr Weights weights() {
    Weights made{};
    for (int64_t point = 0; point < kPoints; ++point)
        for (int64_t tap = 0; tap < kPointTaps; ++tap) made.at[point][tap] = weight_at(point, tap);
    return made;
}

constexpr float kNothing[2 * kRows] = {};  // the bias of products

// Up to four outputs of a stream, `dilation` apart.
struct Four {
    const Stream* stream;
    int64_t first;  // among the positions of the piece
};

struct ByPoints {
    const Convolution& all;
    const Tier& tier;
    int threads;
    const Conv& conv = all.conv;
    const Piece& piece = all.piece;
    const int64_t n = conv.inputs;

    std::vector<Four> fours() const {
        std::vector<Four> made;
        for (const Stream& s : all.streams)
            for (int64_t phase = 0; phase < std::min(conv.dilation, s.length); ++phase)
                for (int64_t t = phase; t < s.length; t += kPointOutputs * conv.dilation) made.push_back({&s, t});
        return made;
    }

    void run() const {
        all.remember(tier);
        const std::vector<Four> all_fours = fours();
        const int64_t total = static_cast<int64_t>(all_fours.size());
        const int64_t most = std::min(kMostFours, std::max<int64_t>(kNearValues / (kPoints * n * 4), tier.positions));
        const int64_t rounds = (total + most * threads - 1) / (most * threads), blocks = std::min(total, rounds * threads);
        parallel(blocks, 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t block = begin; block < end; ++block) {
                const int64_t first = total * block / blocks;
                compute(all_fours.data() + first, total * (block + 1) / blocks - first);
            }
        });
    }

    void compute(const Four* fours, int64_t many) const {
        static thread_local Scratch of_values, of_products;
        float* values = reinterpret_cast<float*>(of_values.at_least(kPoints * many * n * 4));
        float* products = reinterpret_cast<float*>(of_products.at_least(kPoints * many * 2 * kRows * 4));
        to_points(fours, many, values);
        for (int64_t panel = 0; panel < all.panels(); panel += tier.panels) {
            const int64_t wide = std::min<int64_t>(tier.panels, all.panels() - panel);
            for (int64_t point = 0; point < kPoints; ++point)
                multiply(values + point * many * n, many, point, panel, wide, products + point * many * wide * kRows);
            for (int64_t i = 0; i < many; ++i)
                for (int64_t p = 0; p < wide; ++p)
                    from_points(products + (i * wide + p) * kRows, many * wide * kRows, fours[i], (panel + p) * kRows);
        }
    }

    // Of ten rows of inputs that four outputs need, the next four need six again.
    void to_points(const Four* fours, int64_t many, float* values) const {
        static thread_local Scratch scratch;
        float* rows[kPoints];
        for (int64_t k = 0; k < kPoints; ++k) rows[k] = reinterpret_cast<float*>(scratch.at_least(kPoints * n * 4)) + k * n;
        for (int64_t i = 0; i < many; ++i) {
            const Four& four = fours[i];
            const bool follows = i && four.stream == fours[i - 1].stream &&
                                 four.first == fours[i - 1].first + kPointOutputs * conv.dilation;
            if (follows) std::rotate(rows, rows + kPointOutputs, rows + kPoints);
            for (int64_t k = follows ? kPoints - kPointOutputs : 0; k < kPoints; ++k) {
                const int64_t t = four.first + k * conv.dilation - all.keep;
                if (t < four.stream->length) all.input(tier, *four.stream, t, rows[k]);
                else std::fill_n(rows[k], n, 0.0f);
            }
            tier.to_points(rows, n, values + i * n, many * n);
        }
    }

    void multiply(const float* values, int64_t many, int64_t point, int64_t panel, int64_t wide, float* products) const {
        const int64_t size = kPoints * n * kRows, tiles = (many + tier.positions - 1) / tier.positions;
        const float* w = all.floats() + panel * size + point * n * kRows;
        for (int64_t tile = 0; tile < tiles; ++tile) {
            const int64_t at = many * tile / tiles, count = many * (tile + 1) / tiles - at;
            const auto ask = all.ask(w, n * kRows, tile, tiles);
            tier.conv[count - 1][wide - 1]({values + at * n, w, 1, n, 0, n, size, kNothing, nullptr,
                                            products + at * wide * kRows, wide * kRows, wide * kRows, ask.from, ask.bytes});
        }
    }

    void from_points(const float* products, int64_t point, const Four& four, int64_t column) const {
        const Stream& s = *four.stream;
        const int64_t left = (s.length - four.first + conv.dilation - 1) / conv.dilation;
        const int64_t at = (s.at + four.first) * conv.outputs + column;
        tier.from_points({products, point, conv.bias + column, piece.add ? piece.add + at : nullptr, piece.y + at,
                          conv.dilation * conv.outputs, std::min(kPointOutputs, left), conv.outputs - column});
    }
};

}  // namespace

void convolve_points(const Convolution& all, const Tier& tier, int threads) { ByPoints{all, tier, threads}.run(); }

}  // namespace grus

using namespace grus;

extern "C" {

// Weights [outputs][inputs][7] as their values at the points, as `Conv` wants them, into zeros.
GRUS_API void grus_conv_points(const float* w, int64_t outputs, int64_t inputs, float* to, int32_t threads) {
    static constexpr Weights kWeights = weights();
    parallel((outputs + kRows - 1) / kRows, 1, threads, [&](int64_t begin, int64_t end) {
        for (int64_t output = begin * kRows; output < std::min(end * kRows, outputs); ++output) {
            float* panel = to + output / kRows * kPoints * inputs * kRows + output % kRows;
            for (int64_t i = 0; i < inputs; ++i) {
                const float* from = w + (output * inputs + i) * kPointTaps;
                for (int64_t point = 0; point < kPoints; ++point) {
                    double value = 0.0;
                    for (int64_t tap = 0; tap < kPointTaps; ++tap) value += kWeights.at[point][tap] * static_cast<double>(from[tap]);
                    panel[(point * inputs + i) * kRows] = static_cast<float>(value);
                }
            }
        }
    });
}

}  // extern "C"
