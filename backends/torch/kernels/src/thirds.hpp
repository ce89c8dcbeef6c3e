// Products of f32 rows with many tokens on a matrix unit that multiplies bf16.
#pragma once
#include "matrix.hpp"
#include "tier.hpp"

namespace grus {

// Whether this tier has such a unit, and the product is large enough for it.
bool by_thirds(const Tier& tier, const GrusMatrix& m, int64_t tokens);

// As `multiply` of matmul.hpp.
void multiply_by_thirds(const Tier& tier, const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y,
                        int64_t y_stride, int threads);

}  // namespace grus
