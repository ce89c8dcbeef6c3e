// Products with a packed matrix, for the library's other parts.
#pragma once
#include "matrix.hpp"

namespace grus {

// y[t] = matrix * x[t] + bias, of the first expert. `gated`: the matrix's upper half is a gate and its lower half what is
// gated, each a multiple of 16 rows; y[t] = silu(gate) * gated, half as wide.
void multiply(const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, bool gated,
              int threads);

}  // namespace grus
