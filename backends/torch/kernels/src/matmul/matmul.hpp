// Matrix products with a packed or row-major matrix.
#pragma once
#include "arch/tier.hpp"
#include "formats/matrix.hpp"

namespace grus {

// y[t] = matrix * x[t] + bias, of the first expert.
void multiply(const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, int threads);

// y[t] = silu(gate * x[t]) * (up * x[t]). Both are alike in shape and format; without `up` it is the lower half of `gate`, whose
// rows are then a multiple of 32.
void multiply_gated(const GrusMatrix& gate, const GrusMatrix* up, const float* x, int64_t tokens, int64_t x_stride, float* y,
                    int64_t y_stride, int threads);

// -- f32 rows with many tokens, on a matrix unit that multiplies bf16 (bf16x3.cpp)

// Whether this tier has such a unit, and the product is large enough for it.
bool uses_bf16x3(const Tier& tier, const GrusMatrix& m, int64_t tokens);

// As `multiply`.
void multiply_bf16x3(const Tier& tier, const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y,
                        int64_t y_stride, int threads);

// -- quantized weights with many tokens, on such a unit (prompt.cpp)

bool uses_prompt_product(const Tier& tier, const GrusMatrix& m, int64_t tokens);

// As `multiply`, or, gated, as `multiply_gated`.
void multiply_prompt(const Tier& tier, const GrusMatrix& m, const GrusMatrix* up, bool gated, const float* x, int64_t tokens,
                     int64_t x_stride, float* y, int64_t y_stride, int threads);

}  // namespace grus
