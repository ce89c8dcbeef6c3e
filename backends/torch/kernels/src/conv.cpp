// A convolution over a piece of a stream: what came before it, the activation before it and a sum behind it in one call.
#include <algorithm>
#include <cstring>

#include "conv.hpp"
#include "cpu.hpp"
#include "pool.hpp"
#include "scratch.hpp"

namespace grus {
namespace {

constexpr int64_t kFew = 1 << 14;  // multiplications, or numbers to be activated, that one thread is done with alone

int64_t up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

struct Convolution {
    const Conv& conv;
    const Piece& piece;
    const Tier& tier;
    int threads;

    int64_t panels() const { return (conv.outputs + kRows - 1) / kRows; }
    int64_t groups() const { return (panels() + tier.panels - 1) / tier.panels; }

    // All inputs in one row, those that came before first.
    const float* inputs() const {
        const int64_t keep = (conv.taps - 1) * conv.dilation, n = conv.inputs;
        if (!keep && !piece.rate) return piece.x;
        static thread_local Scratch scratch;
        float* all = reinterpret_cast<float*>(scratch.at_least((keep + piece.length) * n * 4));
        const size_t bytes = static_cast<size_t>(keep * n) * 4;
        if (piece.before) std::memcpy(all, piece.before, bytes);
        else std::memset(all, 0, bytes);
        parallel(piece.length, kFew / n + 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t t = begin; t < end; ++t) {
                if (piece.rate) tier.snake(piece.x + t * n, piece.rate, piece.size, n, all + (keep + t) * n);
                else std::memcpy(all + (keep + t) * n, piece.x + t * n, static_cast<size_t>(n) * 4);
            }
        });
        if (piece.after) std::memcpy(piece.after, all + piece.length * n, bytes);
        return all;
    }

    void run() const {
        const float* all = inputs();
        if (piece.length == 0) return;
        // Positions of a unit: few enough for all threads to have work until the end, in whole tiles.
        const int64_t share = std::max<int64_t>(piece.length * groups() / (16 * threads), 1);
        const int64_t chunk = std::min(up(share, tier.positions), up(piece.length, tier.positions));
        const int64_t chunks = (piece.length + chunk - 1) / chunk;
        const int64_t each = chunk * tier.panels * kRows * conv.taps * conv.inputs;
        parallel(groups() * chunks, (kFew << 3) / each + 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t unit = begin; unit < end; ++unit) {  // the positions of one panel in turn: its weights stay near
                const int64_t first = unit % chunks * chunk;
                run_unit(all, unit / chunks * tier.panels, first, std::min(piece.length, first + chunk));
            }
        });
    }

    void run_unit(const float* all, int64_t panel, int64_t first, int64_t last) const {
        const int64_t size = conv.taps * conv.inputs * kRows;
        const int wide = static_cast<int>(std::min<int64_t>(tier.panels, panels() - panel));
        const int64_t column = panel * kRows, columns = std::min<int64_t>(wide * kRows, conv.outputs - column);
        alignas(64) float sums[kMostPositions * 2 * kRows];
        for (int64_t t = first; t < last; t += tier.positions) {
            const int many = static_cast<int>(std::min<int64_t>(tier.positions, last - t));
            for (int i = 0; i < many; ++i) {
                float* row = sums + i * wide * kRows;
                std::memcpy(row, conv.bias + column, static_cast<size_t>(wide) * kRows * 4);
                if (!piece.add) continue;
                const float* more = piece.add + (t + i) * conv.outputs + column;
                for (int64_t c = 0; c < columns; ++c) row[c] += more[c];
            }
            const ConvTile tile{all + t * conv.inputs, conv.w + panel * size, conv.taps, conv.inputs,
                                conv.dilation * conv.inputs, conv.inputs, size, sums};
            tier.conv[many - 1][wide - 1](tile);
            for (int i = 0; i < many; ++i) {
                std::memcpy(piece.y + (t + i) * conv.outputs + column, sums + i * wide * kRows, static_cast<size_t>(columns) * 4);
            }
        }
    }
};

}  // namespace
}  // namespace grus

using namespace grus;

extern "C" {

GRUS_API void grus_conv(const Conv* conv, const Piece* piece, int32_t threads) {
    Convolution{*conv, *piece, current_tier(), threads}.run();
}

}  // extern "C"
