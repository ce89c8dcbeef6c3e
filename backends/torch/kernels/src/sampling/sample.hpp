// Sampling of tokens from logits. The struct is part of the C ABI (library.py).
#pragma once
#include "formats/matrix.hpp"

extern "C" {
struct GrusSampler {
    float temperature;  // 0: nothing is chosen
    float noise;        // in [0, 1): where in the running probability of what is kept the choice falls
    float top_p;        // 1: off
    float min_p;        // 0: off
    int64_t top_k;      // 0: off
};

// Of each row a token, unless its temperature is 0 or `best`, its largest logit, is no finite number.
GRUS_API void grus_sample(const float* x, int64_t rows, int64_t n, const float* best, const GrusSampler* samplers, int32_t* ids,
                          int32_t threads);

// Of the `k` largest of each row and of these the first that hold `top_p` of the mass: the one where the running mass exceeds
// noise * all of it. Where `random` is 0, or a number is NaN, the largest.
GRUS_API void grus_draw(const float* logits, int64_t rows, int64_t n, const float* noise, const int32_t* random,
                        float temperature, int64_t k, float top_p, int32_t* ids);
}
