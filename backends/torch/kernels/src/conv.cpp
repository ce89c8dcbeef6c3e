// A convolution over pieces of streams: what came before them, the activation before it and a sum behind it in one call.
#include "conv.hpp"

#include <cstring>

#include "cpu.hpp"
#include "pool.hpp"
#include "scratch.hpp"

namespace grus {

// Without a past, streams that lie one behind the other are one.
std::vector<Stream> Convolution::streams_of(const Piece& piece, int64_t keep) {
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

std::vector<Span> Convolution::spans(int64_t most) const {
    std::vector<Span> made;
    for (const Stream& s : streams) {
        for (int64_t t = 0; t < s.length; t += most) made.push_back({s.row + t, s.at + t, std::min(most, s.length - t), &s});
    }
    return made;
}

namespace {

struct Floats {
    const Convolution& all;
    const Tier& tier;
    int threads;
    const Conv& conv = all.conv;
    const Piece& piece = all.piece;

    int64_t groups() const { return (all.panels() + tier.panels - 1) / tier.panels; }

    // All inputs in one array, each stream's behind those that came before.
    const float* inputs() const {
        const int64_t n = conv.inputs;
        if (!all.keep && !piece.rate) return piece.x;
        static thread_local Scratch scratch;
        float* to = reinterpret_cast<float*>(scratch.at_least(all.rows() * n * 4));
        for (const Stream& s : all.streams) with_past(s, to + s.row * n);
        return to;
    }

    void with_past(const Stream& s, float* to) const {
        const int64_t n = conv.inputs;
        const size_t bytes = static_cast<size_t>(all.keep * n) * 4;
        if (s.before) std::memcpy(to, s.before, bytes);
        else std::memset(to, 0, bytes);
        const float* x = piece.x + s.at * n;
        float* now = to + all.keep * n;
        parallel(s.length, kFew / n + 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t t = begin; t < end; ++t) {
                if (piece.rate) tier.snake(x + t * n, piece.rate, piece.size, n, now + t * n);
                else std::memcpy(now + t * n, x + t * n, static_cast<size_t>(n) * 4);
            }
        });
        if (s.after) std::memcpy(s.after, to + s.length * n, bytes);
    }

    void run() const {
        const float* x = inputs();
        // Positions of a unit: few enough for all threads to have work until the end, in whole tiles.
        const int64_t share = std::max<int64_t>(all.positions() * groups() / (16 * threads), 1);
        const int64_t chunk = std::min(up(share, tier.positions), up(std::max<int64_t>(all.positions(), 1), tier.positions));
        const std::vector<Span> spans = all.spans(chunk);
        const int64_t many = static_cast<int64_t>(spans.size());
        const int64_t each = chunk * tier.panels * kRows * conv.taps * conv.inputs;
        parallel(groups() * many, (kFew << 3) / each + 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t unit = begin; unit < end; ++unit)  // the positions of one panel in turn: its weights stay near
                run_unit(x, unit / many * tier.panels, spans[static_cast<size_t>(unit % many)]);
        });
    }

    void run_unit(const float* x, int64_t panel, const Span& span) const {
        const int64_t size = conv.taps * conv.inputs * kRows;
        const int wide = static_cast<int>(std::min<int64_t>(tier.panels, all.panels() - panel));
        const int64_t column = panel * kRows, columns = std::min<int64_t>(wide * kRows, conv.outputs - column);
        alignas(64) float sums[kMostPositions * 2 * kRows];
        for (int64_t t = 0; t < span.count; t += tier.positions) {
            const int many = static_cast<int>(std::min<int64_t>(tier.positions, span.count - t));
            const int64_t first = (span.at + t) * conv.outputs + column;
            for (int i = 0; i < many; ++i) {
                float* row = sums + i * wide * kRows;
                std::memcpy(row, conv.bias + column, static_cast<size_t>(wide) * kRows * 4);
                if (!piece.add) continue;
                const float* more = piece.add + first + i * conv.outputs;
                for (int64_t c = 0; c < columns; ++c) row[c] += more[c];
            }
            const ConvTile tile{x + (span.row + t) * conv.inputs, conv.w + panel * size, conv.taps, conv.inputs,
                                conv.dilation * conv.inputs, conv.inputs, size, sums};
            tier.conv[many - 1][wide - 1](tile);
            for (int i = 0; i < many; ++i) {
                std::memcpy(piece.y + first + i * conv.outputs, sums + i * wide * kRows, static_cast<size_t>(columns) * 4);
            }
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
                tier.depthwise(rows.data(), taps, all.conv.w, all.conv.bias, n, all.piece.y + (s.at + t) * n);
            }
        });
        for (int64_t i = 0; s.after && i < all.keep; ++i) std::copy_n(input(s.length - all.keep + i), n, s.after + i * n);
    }
}

}  // namespace
}  // namespace grus

using namespace grus;

extern "C" {

// Whether `grus_conv` wants weights in halves here.
GRUS_API int32_t grus_conv_halves() { return current_tier().unit != nullptr; }

// Each channel alone; `w` is [taps][channels], and neither a snake nor a sum is part of it.
GRUS_API void grus_conv_depthwise(const Conv* conv, const Piece* piece, int32_t threads) {
    convolve_depthwise(Convolution{*conv, *piece}, current_tier(), threads);
}

GRUS_API void grus_conv(const Conv* conv, const Piece* piece, int32_t threads) {
    const Convolution all{*conv, *piece};
    if (conv->halves) convolve_halves(all, threads);
    else Floats{all, current_tier(), threads}.run();
}

}  // extern "C"
