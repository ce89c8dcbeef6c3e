// Streaming convolutions: arguments and shared helpers. The structs are part of the C ABI (conv.py); arrays are [positions, channels]
// without gaps.
#pragma once
#include <algorithm>
#include <vector>

#include "arch/tier.hpp"
#include "formats/matrix.hpp"

namespace grus {

enum class ConvForm : int64_t {
    Floats,  // [panels][taps][inputs][16]
    Bf16x2,  // for the matrix unit: bf16, pairs of panels as UnitConv wants them
    Winograd,  // [panels][points][inputs][16], see winograd.hpp
    Bf16,      // rounded: [panels][taps][pairs of inputs][16][2], with zeros up to a multiple of 32 inputs
    Blocks,    // of three taps, see winograd.hpp: [panels][points][blocks][inputs][16]
    Bf16Blocks,  // rounded: [panels][points][blocks][pairs of inputs][16][2]
};

struct Conv {
    const void* w;
    int64_t form;       // which of ConvForm `w` is
    const float* bias;  // [panels][16]
    int64_t inputs, outputs, taps, dilation;
};

// A further piece of each of some streams, one stream's positions behind the other's.
struct ConvChunk {
    int64_t streams;
    const int64_t* lengths;
    const float* x;
    const float *scale, *shift;  // of each input, x * scale + shift, before the snake; null: none
    const float *rate, *size;    // of the snake that the input goes through; null: it does not
    const float* const* before;  // a stream's (taps - 1) * dilation inputs before these, through their snake; null: silence
    float* const* after;         // room for what `before` is to the next piece
    const float* add;            // is added to the result; null: nothing
    float* y;
    int64_t ahead;               // inputs behind its position that an output reads, silence past the end; with `ahead` nothing is kept
};

// Where a stream's inputs lie in one array of all: what came before its piece, then the piece.
struct Stream {
    int64_t row, at, length;  // the first one before; its first position among all; positions of the piece
    const float* before;
    float* after;
};

// Neighbouring positions of one stream.
struct PositionRange {
    int64_t row, at, count;  // what its first tap reads; its first position among all
    const Stream* stream;
};

struct Convolution {
    const Conv& conv;
    const ConvChunk& piece;
    const int64_t keep = (conv.taps - 1) * conv.dilation;
    const int64_t back = keep - piece.ahead;  // from an output's position to what its first tap reads
    const std::vector<Stream> streams = streams_of(piece, keep);

    const float* floats() const { return static_cast<const float*>(conv.w); }
    int64_t panels() const { return (conv.outputs + kRows - 1) / kRows; }
    int64_t rows() const { return streams.back().row + keep + streams.back().length; }
    int64_t positions() const { return streams.back().at + streams.back().length; }
    std::vector<PositionRange> spans(int64_t most) const;

    // What a tile prefetches when `tiles` in turn use the same weights `w`: its share of those behind them.
    struct Prefetch {
        const uint8_t* from;
        int64_t bytes;
    };
    static Prefetch prefetch(const float* w, int64_t size, int64_t tile, int64_t tiles) {
        return {reinterpret_cast<const uint8_t*>(w + size + size * tile / tiles), kRows * 4 / tiles};
    }

    // A stream's inputs at position `t` of its piece, scaled and through their snake; those below zero came before.
    void input(const Tier& tier, const Stream& s, int64_t t, float* to) const;
    // What the next pieces will need of these.
    void remember(const Tier& tier) const;

  private:
    static std::vector<Stream> streams_of(const ConvChunk& piece, int64_t keep);
};

constexpr int64_t kFew = 1 << 14;  // multiplications, or numbers to be activated, that one thread is done with alone
inline int64_t up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

void convolve_bf16x2(const Convolution& all, int threads);  // on the matrix unit (bf16x2_conv.cpp)
void convolve_winograd(const Convolution& all, const Tier& tier, int threads);  // winograd.cpp
void convolve_blocks(const Convolution& all, const Tier& tier, int threads);    // winograd_blocks.cpp

}  // namespace grus
