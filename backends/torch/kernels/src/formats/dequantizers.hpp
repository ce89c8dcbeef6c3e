// Reading weights as files store them: block by block for quantized formats, as f32 for the others. See pack.cpp for packing.
#pragma once
#include <cstdint>

#include "formats/layout.hpp"

namespace grus {

// The numbers are part of the interface to Python (formats.py).
enum class SourceFormat : int32_t {
    F32, F16, BF16, Affine,
    Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0, MXFP4, Q1_0, TQ2_0_G128,
    Q2_0, PQ2_0, PTQ1_0,
    IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, IQ1_S, IQ1_M, NVFP4,
    FP8_32, FP8_128,  // of E4M3, made of safetensors: a scale (f32), then so many bytes
    Count
};

struct AffineParts {  // MLX's layout, for one matrix
    const uint8_t *scales, *biases;
    int64_t row_bytes;  // of scales, and of biases
    int32_t bits, group;
    ScaleType type;
};

// One block of one row. `scale` and `minimum` are the bits of the packed format's scale type.
struct Block {
    alignas(8) uint8_t codes[kBlock];
    uint32_t scale, minimum;
    uint8_t block_scale[2], block_minimum[2];
};

// The commonest sources: `codes` in the order of their bit planes (layout.hpp). False: not one of them, so `read_block` it is. The
// bytes that hold block `b` (of 32 columns) may be shared by up to eight blocks; `row` is the row's first byte.
bool read_planes(SourceFormat source, const uint8_t* row, int64_t b, Block& out);
// The others: one code a byte, in order.
void read_block(SourceFormat source, const uint8_t* row, int64_t b, Block& out);
void read_affine_block(const AffineParts& parts, const uint8_t* packed_row, int64_t row, int64_t b, Block& out);

void read_floats(SourceFormat source, const uint8_t* row, int64_t column, int64_t n, float* out);

// Exactly as the format's reference quantizes 32 floats.
void quantize_q8_0(const float* x, Block& out);
void quantize_q4_0(const float* x, Block& out);

int64_t source_row_bytes(SourceFormat source, int64_t columns);

}  // namespace grus
