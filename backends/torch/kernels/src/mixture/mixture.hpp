// A mixture of experts: routing, and the products of the chosen experts. The struct is part of the C ABI (mixture.py).
#pragma once
#include "formats/matrix.hpp"

extern "C" {
struct GrusMixture {
    // See grus::ExpertMatrices: gates and ups, or ups alone; and what leads back.
    const GrusMatrix* const* up;
    const GrusMatrix* const* down;
    int64_t up_count, down_count;
    int32_t up_apart, down_apart;
    int32_t activation;    // a grus::Activation
    int32_t gated;         // whether the product with `up` writes what the gate makes of it
    int32_t alternating;   // rows are a gate and an up in turn, else all gates come first
    float alpha, limit;    // see Tier::clamped_swiglu
    int64_t experts, chosen, groups, kept, judged_by;  // of `groups` of neighbours the best `kept` are searched, by the sum of their best scores
    int32_t sigmoid, renormalize;
    float scale, softcap;  // 0: raw scores are taken as they are
    const float* preferred;  // added to scores where experts are chosen, and only there; or null
    const float* factors;    // of each expert's shares; or null
};
}

namespace grus {

// out[t] = the sum over the experts chosen for token t of their shares times what they make of x[t]. `scores`: raw ones, a number for each
// expert. Strides count elements.
void run_mixture(const GrusMixture& m, const float* x, int64_t x_stride, const float* scores, int64_t scores_stride, int64_t tokens,
                 float* out, int64_t out_stride, int threads);

}  // namespace grus
