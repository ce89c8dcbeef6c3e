// K-quant encoders: 256 floats in, one GGUF block out.
#pragma once
#include <cstdint>

namespace grus {

constexpr int kSuper = 256;  // weights of a block
constexpr int kQ4KBytes = 144, kQ6KBytes = 210;

// Bit for bit what `engine/weights/gguf/encode.py` makes, which says how and why.
void encode_q4_k(const float* x, uint8_t* out);
void encode_q6_k(const float* x, uint8_t* out);

}  // namespace grus
