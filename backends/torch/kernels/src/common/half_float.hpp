// Conversions between f32 and 16-bit floats (f16, bf16) with integer arithmetic. Used by packing and the scalar tier; the other tiers
// have instructions for this.
#pragma once
#include <cstdint>
#include <cstring>

namespace grus {

inline float as_float(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

inline uint32_t as_bits(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits;
}

inline float from_bf16(uint16_t h) { return as_float(static_cast<uint32_t>(h) << 16); }

inline uint16_t to_bf16(float value) {
    uint32_t bits = as_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 64);
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

inline float from_f16(uint16_t h) {
    uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    uint32_t rest = h & 0x7fffu;
    if (rest >= 0x7c00u) return as_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x0400u) return as_float(sign | ((rest + 0x1c000u) << 13));
    float magnitude = static_cast<float>(rest) * 5.9604644775390625e-8f;  // a denormal: rest * 2^-24, exact
    return as_float(sign | as_bits(magnitude));
}

// Round to nearest, ties to even, as numpy and F16C do.
inline uint16_t to_f16(float value) {
    uint32_t bits = as_bits(value);
    uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
    if (bits >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (bits < 0x38800000u) {  // adding 0.5 aligns a denormal's bits with the float's lowest ones, and rounds them
        return static_cast<uint16_t>(sign | (as_bits(as_float(bits) + 0.5f) - 0x3f000000u));
    }
    uint32_t rounded = bits + 0xfffu + ((bits >> 13) & 1);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

}  // namespace grus
