// A convolution over a piece of a stream. The structs are part of the interface (conv.py); arrays are [positions, channels]
// without gaps.
#pragma once
#include "matrix.hpp"

namespace grus {

struct Conv {
    const float *w, *bias;  // [panels][taps][inputs][16], [panels][16]
    int64_t inputs, outputs, taps, dilation;
};

struct Piece {
    const float* x;
    int64_t length;
    const float *rate, *size;  // of the snake that the input goes through; null: it does not
    const float* before;       // the (taps - 1) * dilation inputs before these, through their snake; null: silence
    float* after;              // room for what `before` is to the next piece; null: there is none
    const float* add;          // is added to the result; null: nothing
    float* y;
};

}  // namespace grus
