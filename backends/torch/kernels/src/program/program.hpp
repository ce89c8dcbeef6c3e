// A pass through a model's layers as a list of instructions over registers, run by one call. The structs are part of the C ABI
// (program.py); pointers to the arrays of a step are valid during the call.
#pragma once
#include "arch/tier.hpp"
#include "attention/kv_rows.hpp"
#include "formats/matrix.hpp"
#include "matmul/matmul.hpp"
#include "mixture/mixture.hpp"

namespace grus {

enum class Opcode : int32_t {
    Multiply, Gate, Norm, AddNorm, Heads, Attention, Swiglu, LayerNorm, CrossAttention, Gelu, EncoderAttention, Geglu, Map, Store, Conv, Recur, HeadProduct, Mixture, LowRank,
    CentredConv, MultiplyGelu, Rows
};

// Columns of a register: [rows][numbers], `apart` from row to row and `step` from number to number, either of which may be 0.
struct RegisterView { int64_t index, at, apart, step; };  // `index` -1: not of a register but of the instruction's `w`,
// -2: of its `angles`
constexpr int kViews = 6;

// What an adapter adds to a product: b * (a * x). Null where it adds nothing to this one.
struct LowRankSide { const GrusMatrix *a, *b; };

struct Instruction {
    Opcode opcode;
    int32_t in, other, out, sum;  // registers: [tokens, width] each
    int32_t layer, angles;          // `layer`: whose memory keeps the keys and values; -1: none
    int32_t norm_after_rope, pairs;
    KVDtype kv_dtype;                    // how that memory holds them
    MapFunction function;                // of Map
    int32_t latent;                      // of Attention: values are the keys
    int32_t transposed;                  // of HeadProduct
    Activation gate;                     // of Gate
    int64_t heads, kv_heads, dim, rotary_dim, group, window, ahead, at, rows;  // `at`: the first column that a product writes, or where the gate begins; `rows`: most of a head in a layer's memory, 0: the segment's capacity; of HeadProduct a matrix's rows
    int64_t value_dim, taps;
    const GrusMatrix *matrix, *up;  // `up`: of a gate, see multiply_gated
    const float *w, *w2;  // of EncoderAttention by distance: keys of distances, `rows` - 1 down to 1 - `rows`, [heads][2 rows - 1][dim], and what is added to
                          // queries that meet keys and distances, [2][heads][dim]
    float eps, scale, shift;
    const GrusMixture* mixture;
    const LowRankSide* sides;  // each adapter's
    RegisterView views[kViews];  // what is read and written where that is no whole register: of most `at` alone counts, of `in` and `other`
};

// Neighbouring tokens of one sequence, which had `past` tokens before. Keys and values of a layer are rows
// [kv_heads][capacity] of `dim` numbers; those of an encoder, which `Cross` attends to, [kv_heads][encoder_length].
struct ProgramSegment { int64_t start, count, past, capacity, encoder_length; };

// Neighbouring tokens with one adapter.
struct AdapterRun { int64_t start, count, adapter; };

struct ProgramStep {
    const Instruction* code;
    int64_t length, tokens;
    float* const* registers;
    const int64_t* widths;
    const ProgramSegment* segments;
    int64_t segment_count;
    uint8_t* const* memory;          // [layer][segment][keys, values, the keys' parameters, the values']; see KVRows. Of a recurrent layer
                                     // [the convolution's inputs before and after the step, the matrices before and after]
    const float* const* angles;      // [angles][cos, sin], each [tokens][rotary_dim]
    const AdapterRun* runs;
    int64_t run_count;
    const int64_t* ids;              // of each token, for `Rows`
};

}  // namespace grus
