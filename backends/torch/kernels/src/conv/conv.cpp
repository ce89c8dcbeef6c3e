// Streaming convolution in one call: the kept context, the snake activation before it and the residual sum after it. Splits the work
// among threads.
#include "conv/conv.hpp"

#include <cstring>

#include "arch/dispatch.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"

namespace grus {

// Without a past, streams that lie one behind the other are one.
std::vector<Stream> Convolution::streams_of(const ConvChunk& piece, int64_t keep) {
    std::vector<Stream> made;
    int64_t row = 0, at = 0;
    for (int64_t i = 0; i < piece.streams; ++i) {
        made.push_back({row, at, piece.lengths[i], keep ? piece.before[i] : nullptr, keep ? piece.after[i] : nullptr});
        row += keep + piece.lengths[i];
        at += piece.lengths[i];
    }
    if (!keep) made = {Stream{0, 0, at, nullptr, nullptr}};
    return made;
}

std::vector<PositionRange> Convolution::spans(int64_t most) const {
    std::vector<PositionRange> made;
    for (const Stream& s : streams) {
        for (int64_t t = 0; t < s.length; t += most) made.push_back({s.row + t, s.at + t, std::min(most, s.length - t), &s});
    }
    return made;
}

void Convolution::input(const Tier& tier, const Stream& s, int64_t t, float* to) const {
    const int64_t n = conv.inputs;
    if (t < 0) {
        if (s.before) std::copy_n(s.before + (keep + t) * n, n, to);
        else std::fill_n(to, n, 0.0f);
        return;
    }
    if (t >= s.length) {
        std::fill_n(to, n, 0.0f);
        return;
    }
    const float* x = piece.x + (s.at + t) * n;
    if (piece.scale) {
        static thread_local Scratch scratch;  // a snake in place would be one number at a time: compilers fear that both overlap
        float* scaled = piece.rate ? reinterpret_cast<float*>(scratch.at_least(n * 4)) : to;
        for (int64_t i = 0; i < n; ++i) scaled[i] = x[i] * piece.scale[i] + piece.shift[i];
        x = scaled;
    }
    if (piece.rate) tier.snake(x, piece.rate, piece.size, n, to);
    else if (x != to) std::copy_n(x, n, to);
}

void Convolution::remember(const Tier& tier) const {
    for (const Stream& s : streams)
        for (int64_t i = 0; s.after && i < keep; ++i) input(tier, s, s.length - keep + i, s.after + i * conv.inputs);
}

namespace {

constexpr int64_t kNearWeights = 3 << 18;  // bytes of weights that stay near while some positions go through all of them
constexpr int64_t kNearInputs = 1 << 16;   // bytes of these positions' inputs
// Weights by points are ten for seven. Where there are more than these, few positions meet them, and it is their bytes that count.
constexpr int64_t kMostWinogradWeights = 1 << 20;

struct Direct {
    const Convolution& all;
    const Tier& tier;
    int threads;
    const Conv& conv = all.conv;
    const ConvChunk& piece = all.piece;
    const bool rounded = static_cast<ConvForm>(conv.form) == ConvForm::Bf16;
    const int64_t words = rounded ? up(conv.inputs, kBlock) / 2 : conv.inputs;  // of 32 bits: an input, or a pair of rounded ones
    const int64_t groups = (all.panels() + tier.panels - 1) / tier.panels;
    const int64_t size = conv.taps * words * kRows;  // of a panel
    const bool as_given = !rounded && !all.keep && !piece.rate && !piece.scale;  // inputs are used where they lie
    const ConvKernel (*kernels)[2] = rounded ? tier.bf16_conv->tile : tier.conv;

    void run() const {
        all.remember(tier);
        if (all.positions() == 0) return;
        if (all.panels() * size * 4 <= kNearWeights) by_positions();
        else by_outputs();
    }

    static float* room(int64_t floats) {
        static thread_local Scratch scratch;
        return reinterpret_cast<float*>(scratch.at_least(floats * 4));
    }

    // Positions of a unit: few enough for all threads to have work until the end, in whole tiles.
    int64_t in_tiles(int64_t positions) const { return up(std::max<int64_t>(positions, 1), tier.positions); }

    // Weights are few: each thread goes through all of them with some positions.
    void by_positions() const {
        const int64_t share = all.positions() / (16 * threads);
        const std::vector<PositionRange> spans = all.spans(in_tiles(std::min(share, kNearInputs / (words * 4))));
        parallel(static_cast<int64_t>(spans.size()), 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const PositionRange& span = spans[static_cast<size_t>(i)];
                const float* x = piece.x + span.at * conv.inputs;
                if (!as_given) {
                    float* made = room((all.keep + span.count) * words);
                    const int64_t first = span.at - span.stream->at - all.back;
                    for (int64_t t = 0; t < all.keep + span.count; ++t) input(*span.stream, first + t, made + t * words);
                    x = made;
                }
                for (int64_t group = 0; group < groups; ++group) run_unit(x, group * tier.panels, span);
            }
        });
    }

    // Weights are many: each thread takes some of the outputs, whose weights stay near while it goes through the positions.
    void by_outputs() const {
        const float* x = as_given ? piece.x : all_inputs();
        const int64_t share = all.positions() * groups / (16 * threads), chunk = in_tiles(std::min(share, all.positions()));
        const std::vector<PositionRange> spans = all.spans(chunk);
        const int64_t many = static_cast<int64_t>(spans.size()), each = chunk * tier.panels * size;
        parallel(groups * many, (kFew << 3) / each + 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t unit = begin; unit < end; ++unit) {
                const PositionRange& span = spans[static_cast<size_t>(unit % many)];
                run_unit(x + span.row * words, unit / many * tier.panels, span);
            }
        });
    }

    // In one array, each stream's behind those that came before.
    const float* all_inputs() const {
        float* to = room(all.rows() * words);
        for (const Stream& s : all.streams) {
            parallel(all.keep + s.length, kFew / words + 1, threads, [&](int64_t begin, int64_t end) {
                for (int64_t t = begin; t < end; ++t) input(s, t - all.back, to + (s.row + t) * words);
            });
        }
        return to;
    }

    // A position's inputs, in words.
    void input(const Stream& s, int64_t t, float* to) const {
        if (!rounded) return all.input(tier, s, t, to);
        static thread_local Scratch scratch;
        float* whole = reinterpret_cast<float*>(scratch.at_least(conv.inputs * 4));
        all.input(tier, s, t, whole);
        tier.bf16->round(whole, conv.inputs, reinterpret_cast<uint16_t*>(to));
    }

    // `x`: what the first tap of the span's first position reads.
    void run_unit(const float* x, int64_t panel, const PositionRange& span) const {
        const int wide = static_cast<int>(std::min<int64_t>(tier.panels, all.panels() - panel));
        const int64_t column = panel * kRows, tiles = (span.count + tier.positions - 1) / tier.positions;
        for (int64_t tile = 0; tile < tiles; ++tile) {  // alike, since a tile of few positions takes nearly as long
            const int64_t t = span.count * tile / tiles, many = span.count * (tile + 1) / tiles - t;
            const int64_t first = (span.at + t) * conv.outputs + column;
            const float* w = all.floats() + panel * size;
            const auto prefetch = all.prefetch(w + (wide - 1) * size, size, tile, tiles);
            kernels[many - 1][wide - 1]({x + t * words, w, conv.taps, words, conv.dilation * words, words, size,
                                         conv.bias + column, piece.add ? piece.add + first : nullptr, piece.y + first,
                                         conv.outputs, conv.outputs - column, prefetch.from, prefetch.bytes});
        }
    }
};

// Each channel alone, without a snake. Weights are [taps][channels].
void convolve_depthwise(const Convolution& all, const Tier& tier, int threads) {
    const int64_t n = all.conv.inputs, taps = all.conv.taps;
    const std::vector<float> silence(static_cast<size_t>(n), 0.0f);
    for (const Stream& s : all.streams) {
        // Position t, counted from the piece's first; those below zero came before.
        const auto input = [&](int64_t t) {
            if (t >= 0) return all.piece.x + (s.at + t) * n;
            return s.before ? s.before + (all.keep + t) * n : silence.data();
        };
        parallel(s.length, kFew / (n * taps) + 1, threads, [&](int64_t begin, int64_t end) {
            std::vector<const float*> rows(static_cast<size_t>(taps));
            for (int64_t t = begin; t < end; ++t) {
                for (int64_t tap = 0; tap < taps; ++tap)
                    rows[static_cast<size_t>(tap)] = input(t - all.keep + tap * all.conv.dilation);
                tier.depthwise(rows.data(), taps, all.floats(), all.conv.bias, n, all.piece.y + (s.at + t) * n);
            }
        });
        for (int64_t i = 0; s.after && i < all.keep; ++i) std::copy_n(input(s.length - all.keep + i), n, s.after + i * n);
    }
}

}  // namespace
}  // namespace grus

using namespace grus;

extern "C" {

// In which form `grus_conv` wants these weights here. `rounded`: inputs and weights may be rounded to bf16.
GRUS_API int64_t grus_conv_form(int64_t outputs, int64_t inputs, int64_t taps, int32_t rounded) {
    if (current_tier().unit) return static_cast<int64_t>(ConvForm::Bf16x2);
    const bool wide = std::min(outputs, inputs) >= kRows && outputs * inputs <= kMostWinogradWeights;
    // Four taps would be two blocks: three quarters of the products for what the values cost.
    const bool blocks = wide && taps >= kBlockTaps && taps != kBlockTaps + 1 && taps <= kMostBlockTaps;
    if (rounded && current_tier().bf16_conv) {
        return static_cast<int64_t>(blocks && inputs % kBlock == 0 ? ConvForm::Bf16Blocks : ConvForm::Bf16);
    }
    if (wide && taps == kWinogradTaps) return static_cast<int64_t>(ConvForm::Winograd);
    return static_cast<int64_t>(blocks ? ConvForm::Blocks : ConvForm::Floats);
}

// Each channel alone; `w` is [taps][channels], and neither a snake nor a sum is part of it.
GRUS_API void grus_conv_depthwise(const Conv* conv, const ConvChunk* piece, int32_t threads) {
    convolve_depthwise(Convolution{*conv, *piece}, current_tier(), threads);
}

GRUS_API void grus_conv(const Conv* conv, const ConvChunk* piece, int32_t threads) {
    const Convolution all{*conv, *piece};
    switch (static_cast<ConvForm>(conv->form)) {
        case ConvForm::Floats:
        case ConvForm::Bf16: return Direct{all, current_tier(), threads}.run();
        case ConvForm::Bf16x2: return convolve_bf16x2(all, threads);
        case ConvForm::Winograd: return convolve_winograd(all, current_tier(), threads);
        case ConvForm::Blocks:
        case ConvForm::Bf16Blocks: return convolve_blocks(all, current_tier(), threads);
    }
}

}  // extern "C"
