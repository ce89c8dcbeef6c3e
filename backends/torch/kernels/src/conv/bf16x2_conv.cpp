// Work split of bf16x2 convolutions on the matrix unit. Inputs are first split into high and low bf16. With many weights, all inputs
// are split once and each thread takes some of the outputs; with few, each thread splits the inputs of its own positions and goes
// through all weights, which stay in its second-level cache.
#include "common/half_float.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "conv/conv.hpp"

namespace grus {
namespace {

constexpr int64_t kNear = 5 << 18;  // bytes of weights that stay near, beside a span's inputs
constexpr int64_t kLongest = 256;   // positions of a span whose inputs stay near too
constexpr int64_t kWidth = 2;       // panels computed at once

struct Bf16x2Conv {
    const Convolution& all;
    int threads;
    const MatrixUnit& unit = *amx_unit();
    const Conv& conv = all.conv;
    const ConvChunk& piece = all.piece;
    const int64_t low = up(conv.inputs, kBlock);
    const int64_t row = 2 * low + kBlock;  // a line's gap: rows a power of two apart would compete for one place in a cache
    const int64_t groups = (all.panels() + kWidth - 1) / kWidth;

    UnitRow of(const Stream& s, int64_t t) const {
        return {piece.x + (s.at + t) * conv.inputs, piece.scale, piece.shift, piece.rate, piece.size, conv.inputs};
    }

    // Inputs of positions begin .. end of a stream; those below zero came before, those past its end are silent.
    void split(const Stream& s, int64_t begin, int64_t end, uint16_t* to) const {
        for (int64_t t = begin; t < end; ++t, to += row) {
            if (t >= 0 && t < s.length) unit.conv->split(of(s, t), low, to);
            else if (t < 0 && s.before) {
                const float* before = s.before + (all.keep + t) * conv.inputs;
                unit.conv->split({before, nullptr, nullptr, nullptr, nullptr, conv.inputs}, low, to);
            }
            else std::fill_n(to, 2 * low, uint16_t{0});
        }
    }

    void remember() const {
        for (const Stream& s : all.streams) {
            for (int64_t i = 0; s.after && i < all.keep; ++i) {
                const int64_t t = s.length - all.keep + i;
                float* to = s.after + i * conv.inputs;
                if (t >= 0) unit.conv->snake(of(s, t), to);
                else if (s.before) std::copy_n(s.before + (all.keep + t) * conv.inputs, conv.inputs, to);
                else std::fill_n(to, conv.inputs, 0.0f);
            }
        }
    }

    // `x`: what the first tap of the span's first position reads.
    void compute(const uint16_t* x, int64_t group, const PositionRange& span) const {
        const int64_t panel = group * kWidth, wide = std::min(kWidth, all.panels() - panel);
        const int64_t first = span.at * conv.outputs;
        unit.conv->convolve({x, row, low, conv.dilation * row, low / kBlock, conv.taps,
                             static_cast<const uint16_t*>(conv.w) + panel * conv.taps * low * kRows * 2, wide, span.count, conv.bias,
                             piece.add ? piece.add + first : nullptr, piece.y + first, panel * kRows, conv.outputs});
    }

    uint16_t* room(int64_t rows) const {  // some more: the unit takes sixteen positions at a time
        static thread_local Scratch scratch;
        return reinterpret_cast<uint16_t*>(scratch.at_least((rows + 2 * kRows) * row * 2));
    }

    void run() const {
        remember();
        if (all.positions() == 0) return;
        if (groups * kWidth * kRows * low * conv.taps * 4 <= kNear) by_positions();
        else by_outputs();
    }

    void by_positions() const {
        const int64_t share = up(all.positions() / (8 * threads) + 1, 2 * kRows);
        const std::vector<PositionRange> spans = all.spans(std::min(share, kLongest));
        parallel(static_cast<int64_t>(spans.size()), 1, threads, [&](int64_t begin, int64_t end) {
            unit.begin(64, kRows);
            for (int64_t i = begin; i < end; ++i) {
                const PositionRange& span = spans[static_cast<size_t>(i)];
                const int64_t first = span.at - span.stream->at;
                uint16_t* x = room(all.keep + span.count);
                split(*span.stream, first - all.back, first - all.back + all.keep + span.count, x);
                for (int64_t group = 0; group < groups; ++group) compute(x, group, span);
            }
            unit.end();
        });
    }

    void by_outputs() const {
        uint16_t* x = room(all.rows());
        for (const Stream& s : all.streams) {
            parallel(all.keep + s.length, (kFew >> 1) / low + 1, threads, [&](int64_t begin, int64_t end) {
                split(s, begin - all.back, end - all.back, x + (s.row + begin) * row);
            });
        }
        const int64_t share = up(all.positions() * groups / (16 * threads) + 1, 2 * kRows);
        const std::vector<PositionRange> spans = all.spans(share);
        const int64_t many = static_cast<int64_t>(spans.size());
        parallel(groups * many, 1, threads, [&](int64_t begin, int64_t end) {
            unit.begin(64, kRows);
            for (int64_t i = begin; i < end; ++i) {
                const PositionRange& span = spans[static_cast<size_t>(i % many)];
                compute(x + span.row * row, i / many, span);
            }
            unit.end();
        });
    }
};

}  // namespace

void convolve_bf16x2(const Convolution& all, int threads) { Bf16x2Conv{all, threads}.run(); }

}  // namespace grus

using namespace grus;

extern "C" {

// Weights [outputs][inputs][taps] in halves, as `Conv` wants them, into zeros.
GRUS_API void grus_conv_bf16x2_weights(const float* w, int64_t outputs, int64_t inputs, int64_t taps, uint16_t* to, int32_t threads) {
    const int64_t panels = up(outputs, kRows) / kRows, blocks = up(inputs, kBlock) / kBlock, half = kRows * kBlock;
    parallel(panels, 1, threads, [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel) {
            const int64_t first = panel / kWidth * kWidth, wide = std::min(kWidth, panels - first);
            uint16_t* high = to + first * blocks * taps * 2 * half + (panel - first) * half;
            for (int64_t i = 0; i < blocks * kBlock; i += kBlock) {
                for (int64_t tap = 0; tap < taps; ++tap, high += 2 * wide * half) {
                    for (int64_t o = 0; o < std::min<int64_t>(kRows, outputs - panel * kRows); ++o) {
                        const float* from = w + ((panel * kRows + o) * inputs + i) * taps + tap;
                        for (int64_t j = 0; j < std::min<int64_t>(kBlock, inputs - i); ++j) {
                            uint16_t* at = high + j / 2 * 2 * kRows + o * 2 + j % 2;
                            at[0] = to_bf16(from[j * taps]);
                            at[wide * half] = to_bf16(from[j * taps] - from_bf16(at[0]));
                        }
                    }
                }
            }
        }
    });
}

}  // extern "C"
