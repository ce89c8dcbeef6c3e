// A convolution over pieces of streams. The structs are part of the interface (conv.py); arrays are [positions, channels]
// without gaps.
#pragma once
#include <algorithm>
#include <vector>

#include "matrix.hpp"
#include "tier.hpp"

namespace grus {

struct Conv {
    const float* w;          // [panels][taps][inputs][16]; null: there are halves
    const uint16_t* halves;  // pairs of panels, as UnitConv wants them; null: there are floats
    const float* bias;       // [panels][16]
    int64_t inputs, outputs, taps, dilation;
};

// A further piece of each of some streams, one stream's positions behind the other's.
struct Piece {
    int64_t streams;
    const int64_t* lengths;
    const float* x;
    const float *rate, *size;    // of the snake that the input goes through; null: it does not
    const float* const* before;  // a stream's (taps - 1) * dilation inputs before these, through their snake; null: silence
    float* const* after;         // room for what `before` is to the next piece
    const float* add;            // is added to the result; null: nothing
    float* y;
};

// Where a stream's inputs lie in one array of all: what came before its piece, then the piece.
struct Stream {
    int64_t row, at, length;  // the first one before; its first position among all; positions of the piece
    const float* before;
    float* after;
};

// Neighbouring positions of one stream.
struct Span {
    int64_t row, at, count;  // what its first tap reads; its first position among all
    const Stream* stream;
};

struct Convolution {
    const Conv& conv;
    const Piece& piece;
    const int64_t keep = (conv.taps - 1) * conv.dilation;
    const std::vector<Stream> streams = streams_of(piece, keep);

    int64_t panels() const { return (conv.outputs + kRows - 1) / kRows; }
    int64_t rows() const { return streams.back().row + keep + streams.back().length; }
    int64_t positions() const { return streams.back().at + streams.back().length; }
    std::vector<Span> spans(int64_t most) const;

  private:
    static std::vector<Stream> streams_of(const Piece& piece, int64_t keep);
};

constexpr int64_t kFew = 1 << 14;  // multiplications, or numbers to be activated, that one thread is done with alone
inline int64_t up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

// With weights in halves: on the matrix unit (conv_halves.cpp).
void convolve_halves(const Convolution& all, int threads);

}  // namespace grus
