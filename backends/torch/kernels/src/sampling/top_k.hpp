// Reductions over long rows of logits: argmax, top-k and softmax mass.
#pragma once
#include "formats/matrix.hpp"

extern "C" {
// The largest number of each row and its first place; NaN where a row has one.
GRUS_API void grus_argmax(const float* x, int64_t rows, int64_t n, float* best, int64_t* places, int32_t threads);

// The `k` largest of each row in order, equals by their place; k is at most n. No number may be NaN.
GRUS_API void grus_top_k(const float* x, int64_t rows, int64_t n, int64_t k, float* values, int64_t* places, int32_t threads);

// The sum of exp((x - best) / temperature) of each row.
GRUS_API void grus_softmax_mass(const float* x, int64_t rows, int64_t n, const float* best, const float* temperatures, float* out,
                        int32_t threads);

// Of each token the largest result of a product, its place, and, unless `mass` is null, the sum of exp(result - largest).
GRUS_API void grus_matmul_argmax(const GrusMatrix* m, const float* x, int64_t tokens, int64_t x_stride, float* best,
                                   int64_t* places, float* mass, int32_t threads);
}
