// Products of many tokens with quantized weights, on a matrix unit that multiplies bf16.
#pragma once
#include "matrix.hpp"
#include "tier.hpp"

namespace grus {

bool by_prompts(const Tier& tier, const GrusMatrix& m, int64_t tokens);

// See matmul.hpp: `multiply`, or, gated, `multiply_gated`.
void multiply_prompt(const Tier& tier, const GrusMatrix& m, const GrusMatrix* up, bool gated, const float* x, int64_t tokens,
                     int64_t x_stride, float* y, int64_t y_stride, int threads);

}  // namespace grus
