// Products with a packed matrix, for the library's other parts.
#pragma once
#include "matrix.hpp"

namespace grus {

// y[t] = matrix * x[t] + bias, of the first expert.
void multiply(const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, int threads);

// y[t] = silu(gate * x[t]) * (up * x[t]). Both are alike in shape and format; without `up` it is the lower half of `gate`, whose
// rows are then a multiple of 32.
void multiply_gated(const GrusMatrix& gate, const GrusMatrix* up, const float* x, int64_t tokens, int64_t x_stride, float* y,
                    int64_t y_stride, int threads);

}  // namespace grus
