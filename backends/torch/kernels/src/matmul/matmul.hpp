// Matrix products with a packed or row-major matrix.
#pragma once
#include <vector>

#include "arch/tier.hpp"
#include "formats/matrix.hpp"

namespace grus {

enum class Activation : int32_t { Swiglu, Geglu, ClampedSwiglu, ReluSquared };

// What becomes of a gate and what it is for. `alpha`, `limit`: see Tier::clamped_swiglu.
struct Gate {
    Activation kind = Activation::Swiglu;
    float alpha = 0, limit = 0;

    void run(const Tier& tier, const float* gates, const float* up, int64_t n, float* out) const {
        if (kind == Activation::ClampedSwiglu) tier.clamped_swiglu(gates, up, alpha, limit, n, out);
        else (kind == Activation::Geglu ? tier.geglu : tier.swiglu)(gates, up, n, out);
    }
};

// A function of each of `n` numbers; `out` may be `x`.
using RowFunction = void (*)(const float* x, int64_t n, float* out);

// y[t] = matrix * x[t] + bias, of the first expert. `each`: a function of each result; null: none.
void multiply(const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, int threads,
              RowFunction each = nullptr);

// y[t] = gate(m * x[t], up * x[t]). Both are alike in shape and format; without `up` it is the lower half of `m`, whose
// rows are then a multiple of 32.
void multiply_gated(const GrusMatrix& m, const GrusMatrix* up, const Gate& gate, const float* x, int64_t tokens, int64_t x_stride, float* y,
                    int64_t y_stride, int threads);

// y[t][e] = expert e * x[t][e], of all experts, `x_apart` and `y_apart` from one to the next.
void multiply_each(const GrusMatrix& m, const float* x, int64_t x_apart, int64_t tokens, int64_t x_stride, float* y, int64_t y_apart,
                   int64_t y_stride, int threads);

// -- mixtures of experts

// Tokens that meet one expert: `count` of them, from `first` in the order of the job.
struct ExpertGroup { int64_t expert, first, count; };

// The matrices of one input, `count` of them side by side, of each expert: all experts in one matrix, or each `apart` in its own,
// `each` behind those of the last.
struct ExpertMatrices {
    const GrusMatrix* const* matrices;
    int64_t each, count;
    bool apart;

    const GrusMatrix* of(int64_t expert, int64_t part) const { return matrices[apart ? expert * each + part : part]; }
};

// Row i of the job reads row x_rows[i] of x and writes row y_rows[i] of y; null: row i.
struct GroupedRows {
    const float* x;
    int64_t x_stride;
    const int64_t* x_rows;
    float* y;
    int64_t y_stride;
    const int64_t* y_rows;
};

// As `multiply`, or with a gate as `multiply_gated`, of each group by its expert.
void multiply_experts(const ExpertMatrices& all, const Gate* gate, const ExpertGroup* groups, int64_t count, const GroupedRows& rows, int threads);

// Groups of pairs that are sorted by expert.
std::vector<ExpertGroup> groups_of(const int64_t* experts, int64_t pairs);

// -- f32 rows with many tokens, on a matrix unit that multiplies bf16 (bf16x3.cpp)

// Whether this tier has such a unit, and the product is large enough for it.
bool uses_bf16x3(const Tier& tier, const GrusMatrix& m, int64_t tokens);

// As `multiply`.
void multiply_bf16x3(const Tier& tier, const GrusMatrix& m, const float* x, int64_t tokens, int64_t x_stride, float* y,
                        int64_t y_stride, int threads);

// -- quantized weights with many tokens, on such a unit (prompt.cpp)

bool uses_prompt_product(const Tier& tier, const GrusMatrix& m, int64_t tokens);

constexpr int64_t kMostOfExpert = 256;  // tokens of an expert that share a call with others

// The same, or as `multiply_experts`, of groups with fewer tokens that are many all the same; no row of `y` is given.
bool uses_prompt_product_of_expert(const Tier& tier, const GrusMatrix& m, int64_t tokens);
void multiply_prompts(const Tier& tier, const ExpertMatrices& all, const Gate* gate, const ExpertGroup* const* groups, int64_t count,
                      const GroupedRows& rows, int threads);

// As `multiply`, or, with a gate, as `multiply_gated`; of one expert.
void multiply_prompt(const Tier& tier, const GrusMatrix& m, const GrusMatrix* up, const Gate* gate, int64_t expert, const float* x,
                     int64_t tokens, int64_t x_stride, float* y, int64_t y_stride, int threads);

}  // namespace grus
