// Readers of every block format (GGUF's, and MLX's affine layout), one block of 32 weights at a time.
#include "formats/dequantizers.hpp"

#include <cmath>
#include <cstring>

#include "common/half_float.hpp"
#include "formats/grids.hpp"

namespace grus {
namespace {

constexpr uint32_t kMagnitude = 0x7fffffffu;

// The bits of the largest magnitude of 32 floats. As integers they are in the order of the floats, NaN above all; so what is
// not finite ends up in the scale, and products say so.
uint32_t largest(const float* x) {
    int32_t top = 0;
    for (int i = 0; i < kBlock; ++i) {
        int32_t size = static_cast<int32_t>(as_bits(x[i]) & kMagnitude);
        top = top > size ? top : size;
    }
    return static_cast<uint32_t>(top);
}

bool usable(float d, float inverse) { return std::isfinite(d) && std::isfinite(inverse); }

uint16_t u16(const uint8_t* p) {
    uint16_t v;
    std::memcpy(&v, p, 2);
    return v;
}

void nibbles(const uint8_t* q, Block& out) {
    for (int i = 0; i < 16; ++i) {
        out.codes[i] = q[i] & 15;
        out.codes[i + 16] = q[i] >> 4;
    }
}

void fifth_bits(const uint8_t* h, Block& out) {
    for (int i = 0; i < 32; ++i) out.codes[i] |= ((h[i / 8] >> (i % 8)) & 1) << 4;
}

void two_bits(const uint8_t* q, int shift, Block& out) {
    for (int i = 0; i < 32; ++i) out.codes[i] = (q[i] >> shift) & 3;
}

void quarters(const uint8_t* q, Block& out) {  // four codes a byte
    for (int i = 0; i < 32; ++i) out.codes[i] = (q[i / 4] >> 2 * (i % 4)) & 3;
}

// Six-bit steps and block_minima of Q4_K and Q5_K, packed into 12 bytes.
void block_scales_and_minima(const uint8_t* s, int j, Block& out) {
    if (j < 4) {
        out.block_scale[0] = s[j] & 63;
        out.block_minimum[0] = s[j + 4] & 63;
    } else {
        out.block_scale[0] = static_cast<uint8_t>((s[j + 4] & 15) | (s[j - 4] >> 6) << 4);
        out.block_minimum[0] = static_cast<uint8_t>((s[j + 4] >> 4) | (s[j] >> 6) << 4);
    }
}

void read_q2_k(const uint8_t* p, int j, Block& out) {  // 16 steps and block_minima, 64 bytes of codes, d, dmin
    two_bits(p + 16 + 32 * (j / 4), 2 * (j % 4), out);
    for (int h = 0; h < 2; ++h) {
        out.block_scale[h] = p[2 * j + h] & 15;
        out.block_minimum[h] = p[2 * j + h] >> 4;
    }
    out.scale = u16(p + 80);
    out.minimum = u16(p + 82);
}

void read_q3_k(const uint8_t* p, int j, Block& out) {  // 32 bytes of third bits, 64 of codes, 12 of steps, d
    two_bits(p + 32 + 32 * (j / 4), 2 * (j % 4), out);
    for (int i = 0; i < 32; ++i) out.codes[i] |= ((p[i] >> j) & 1) << 2;
    const uint8_t* s = p + 96;
    for (int h = 0; h < 2; ++h) {
        int k = 2 * j + h;
        int low = k < 8 ? s[k] & 15 : s[k - 8] >> 4;
        out.block_scale[h] = static_cast<uint8_t>((low | ((s[8 + k % 4] >> 2 * (k / 4)) & 3) << 4) - 32);
    }
    out.scale = u16(p + 108);
}

void read_iq4_xs(const uint8_t* p, int j, Block& out) {  // d, high bits of steps, low bits, codes
    nibbles(p + 8 + 16 * j, out);
    int low = (p[4 + j / 2] >> 4 * (j % 2)) & 15, high = (u16(p + 2) >> 2 * j) & 3;
    out.block_scale[0] = static_cast<uint8_t>((low | high << 4) - 32);
    out.scale = u16(p);
}

// Base 3: `first` bytes of five digits each, half as many of five, an eighth as many of four; then d.
void read_ternary(const uint8_t* p, int first, int j, Block& out) {
    static const uint8_t power[5] = {1, 3, 9, 27, 81};
    for (int i = 0; i < 32; ++i) {
        int k = 32 * j + i, run = first;
        const uint8_t* from = p;
        const int runs[2] = {first / 2, first / 8};
        for (const int next : runs) {
            if (k < 5 * run) break;
            k -= 5 * run;
            from += run;
            run = next;
        }
        out.codes[i] = static_cast<uint8_t>((static_cast<uint8_t>(from[k % run] * power[k / run]) * 3) >> 8);
    }
    out.scale = u16(p + first + first / 2 + first / 8);
}

void read_mxfp4(const uint8_t* p, Block& out) {  // a power of two as a byte; the values are doubled, so half of it
    nibbles(p + 1, out);
    out.scale = p[0];
}

void read_f8(const uint8_t* p, int j, Block& out) {
    std::memcpy(&out.scale, p, 4);
    std::memcpy(out.codes, p + 4 + kBlock * j, kBlock);
}

void read_nvfp4(const uint8_t* p, int j, Block& out) {  // four scales, then eight bytes of codes for each
    for (int h = 0; h < 2; ++h) {
        const uint8_t scale = p[2 * j + h], *q = p + 4 + 8 * (2 * j + h);
        out.block_scale[h] = scale == 0x7f ? 0 : scale;  // not a number: the format's readers take it for zero
        for (int i = 0; i < 8; ++i) {
            out.codes[16 * h + i] = q[i] & 15;
            out.codes[16 * h + i + 8] = q[i] >> 4;
        }
    }
}

// Codes of the commonest types go straight into planes, eight at a time. A plane of four bits has codes 0 to 15 in its low halves
// and 16 to 31 in its high ones; one of two bits has a quarter of the block in each pair of bits.
constexpr uint64_t kLow4 = 0x0f0f0f0f0f0f0f0full, kLow2 = 0x0303030303030303ull, kLow1 = 0x0101010101010101ull;

uint64_t u64(const uint8_t* p) {
    uint64_t v;
    std::memcpy(&v, p, 8);
    return v;
}

void put_u64(uint8_t* p, uint64_t v) { std::memcpy(p, &v, 8); }

// 32 codes of four bits, in the low halves (shift 0) or the high ones (4) of 32 bytes.
void plane_of_nibbles(const uint8_t* q, int shift, Block& out) {
    for (int i = 0; i < 16; i += 8) put_u64(out.codes + i, ((u64(q + i) >> shift) & kLow4) | ((u64(q + 16 + i) >> shift) & kLow4) << 4);
}

void planes_q4_k(const uint8_t* p, int j, Block& out) {  // d, dmin, 12 bytes of steps, 128 of codes
    plane_of_nibbles(p + 16 + 32 * (j / 2), 4 * (j % 2), out);
    block_scales_and_minima(p + 4, j, out);
    out.scale = u16(p);
    out.minimum = u16(p + 2);
}

void planes_q5_k(const uint8_t* p, int j, Block& out) {  // as Q4_K, with 32 bytes of fifth bits before the codes
    plane_of_nibbles(p + 48 + 32 * (j / 2), 4 * (j % 2), out);
    uint64_t high = 0;  // one plane of a bit: quad g is bit g of four bytes
    for (int i = 0; i < 4; ++i) high |= ((u64(p + 16 + 8 * i) >> j) & kLow1) << 2 * i;
    const uint32_t four = static_cast<uint32_t>(high | (high >> 32) << 1);
    std::memcpy(out.codes + 16, &four, 4);
    block_scales_and_minima(p + 4, j, out);
    out.scale = u16(p);
    out.minimum = u16(p + 2);
}

void planes_q6_k(const uint8_t* p, int j, Block& out) {  // 128 bytes of low bits, 64 of high, 16 steps, d
    plane_of_nibbles(p + 64 * (j / 4) + 32 * (j % 2), 4 * (j % 4 / 2), out);
    const uint8_t* high = p + 128 + 32 * (j / 4);
    uint64_t pairs = 0;
    for (int i = 0; i < 4; ++i) pairs |= ((u64(high + 8 * i) >> 2 * (j % 4)) & kLow2) << 2 * i;
    put_u64(out.codes + 16, pairs);
    out.block_scale[0] = p[192 + 2 * j];
    out.block_scale[1] = p[192 + 2 * j + 1];
    out.scale = u16(p + 208);
}

}  // namespace

void read_floats(SourceFormat source, const uint8_t* row, int64_t column, int64_t n, float* out) {
    if (source == SourceFormat::F32) {
        std::memcpy(out, row + 4 * column, static_cast<size_t>(n) * 4);
    } else if (source == SourceFormat::F16) {
        for (int64_t i = 0; i < n; ++i) out[i] = from_f16(u16(row + 2 * (column + i)));
    } else {
        for (int64_t i = 0; i < n; ++i) out[i] = from_bf16(u16(row + 2 * (column + i)));
    }
}

void quantize_q8_0(const float* x, Block& out) {
    const float d = as_float(largest(x)) / 127.0f, inverse = d == 0.0f ? 0.0f : 1.0f / d;
    out.scale = to_f16(d);
    if (!usable(d, inverse)) return void(std::memset(out.codes, 0, kBlock));
    int32_t codes[kBlock];
    for (int i = 0; i < kBlock; ++i) {  // to nearest, ties away from zero
        float scaled = x[i] * inverse, size = std::fabs(scaled);
        int32_t whole = static_cast<int32_t>(size);
        whole += size - static_cast<float>(whole) >= 0.5f;
        codes[i] = scaled < 0.0f ? -whole : whole;
    }
    for (int i = 0; i < kBlock; ++i) out.codes[i] = static_cast<uint8_t>(codes[i]);
}

void quantize_q4_0(const float* x, Block& out) {
    const uint32_t peak = largest(x);
    float at = 0.0f;
    for (int i = kBlock - 1; i >= 0; --i) at = (as_bits(x[i]) & kMagnitude) == peak ? x[i] : at;  // the first of equals
    const float d = at / -8.0f, inverse = d == 0.0f ? 0.0f : 1.0f / d;
    out.scale = to_f16(d);
    if (!usable(d, inverse)) return void(std::memset(out.codes, 8, kBlock));
    int32_t codes[kBlock];
    for (int i = 0; i < kBlock; ++i) {
        int32_t code = static_cast<int32_t>(x[i] * inverse + 8.5f);
        codes[i] = code > 15 ? 15 : code;
    }
    for (int i = 0; i < kBlock; ++i) out.codes[i] = static_cast<uint8_t>(codes[i]);
}

void read_block(SourceFormat source, const uint8_t* row, int64_t b, Block& out) {
    const int64_t super = b / 8;
    const int j = static_cast<int>(b % 8);
    switch (source) {
        case SourceFormat::Q5_0:
            row += 22 * b;
            nibbles(row + 6, out);
            fifth_bits(row + 2, out);
            out.scale = u16(row);
            return;
        case SourceFormat::Q5_1:
            row += 24 * b;
            nibbles(row + 8, out);
            fifth_bits(row + 4, out);
            out.scale = u16(row);
            out.minimum = u16(row + 2);
            return;
        case SourceFormat::Q2_K: return read_q2_k(row + 84 * super, j, out);
        case SourceFormat::Q3_K: return read_q3_k(row + 110 * super, j, out);
        case SourceFormat::IQ4_XS: return read_iq4_xs(row + 136 * super, j, out);
        case SourceFormat::TQ1_0: return read_ternary(row + 54 * super, 32, j, out);
        case SourceFormat::PTQ1_0: return read_ternary(row + 28 * (b / 4), 16, static_cast<int>(b % 4), out);
        case SourceFormat::TQ2_0:
            row += 66 * super;
            two_bits(row + 32 * (j / 4), 2 * (j % 4), out);
            out.scale = u16(row + 64);
            return;
        case SourceFormat::MXFP4: return read_mxfp4(row + 17 * b, out);
        case SourceFormat::Q1_0:
            row += 18 * (b / 4);
            for (int i = 0; i < 32; ++i) out.codes[i] = (row[2 + 4 * (b % 4) + i / 8] >> (i % 8)) & 1;
            out.scale = u16(row);
            return;
        case SourceFormat::TQ2_0_G128:
            row += 34 * (b / 4);
            quarters(row + 8 * (b % 4), out);
            for (int i = 0; i < 32; ++i) out.codes[i] = out.codes[i] == 3 ? 1 : out.codes[i];  // 11 is reserved
            out.scale = u16(row + 32);
            return;
        case SourceFormat::Q2_0:
            row += 18 * (b / 2);
            quarters(row + 2 + 8 * (b % 2), out);
            out.scale = u16(row);
            return;
        case SourceFormat::IQ2_XXS: return read_iq2_xxs(row + 66 * super, j, out);
        case SourceFormat::IQ2_XS: return read_iq2_xs(row + 74 * super, j, out);
        case SourceFormat::IQ2_S: return read_iq2_s(row + 82 * super, j, out);
        case SourceFormat::IQ3_XXS: return read_iq3_xxs(row + 98 * super, j, out);
        case SourceFormat::IQ3_S: return read_iq3_s(row + 110 * super, j, out);
        case SourceFormat::IQ1_S: return read_iq1_s(row + 50 * super, j, out);
        case SourceFormat::IQ1_M: return read_iq1_m(row + 56 * super, j, out);
        case SourceFormat::NVFP4: return read_nvfp4(row + 36 * (b / 2), static_cast<int>(b % 2), out);
        case SourceFormat::FP8_32: return read_f8(row + 36 * b, 0, out);
        case SourceFormat::FP8_128: return read_f8(row + 132 * (b / 4), static_cast<int>(b % 4), out);
        case SourceFormat::PQ2_0:
            row += 34 * (b / 4);
            quarters(row + 2 + 8 * (b % 4), out);
            out.scale = u16(row);
            return;
        default: return;
    }
}

bool read_planes(SourceFormat source, const uint8_t* row, int64_t b, Block& out) {
    const int64_t super = b / 8;
    const int j = static_cast<int>(b % 8);
    switch (source) {
        case SourceFormat::Q8_0:
            row += 34 * b;
            std::memcpy(out.codes, row + 2, 32);
            out.scale = u16(row);
            return true;
        case SourceFormat::Q4_0: case SourceFormat::IQ4_NL:
            row += 18 * b;
            std::memcpy(out.codes, row + 2, 16);
            out.scale = u16(row);
            return true;
        case SourceFormat::Q4_1:
            row += 20 * b;
            std::memcpy(out.codes, row + 4, 16);
            out.scale = u16(row);
            out.minimum = u16(row + 2);
            return true;
        case SourceFormat::Q4_K: planes_q4_k(row + 144 * super, j, out); return true;
        case SourceFormat::Q5_K: planes_q5_k(row + 176 * super, j, out); return true;
        case SourceFormat::Q6_K: planes_q6_k(row + 210 * super, j, out); return true;
        default: return false;
    }
}

void read_affine_block(const AffineParts& parts, const uint8_t* packed_row, int64_t row, int64_t b, Block& out) {
    const int bits = parts.bits;
    const uint8_t* p = packed_row + b * kBlock * bits / 8;  // 32 codes end on a byte, whatever their width
    for (int i = 0; bits == 4 && i < kBlock; i += 2) {
        out.codes[i] = p[i / 2] & 15;
        out.codes[i + 1] = p[i / 2] >> 4;
    }
    for (int i = 0; bits == 8 && i < kBlock; ++i) out.codes[i] = p[i] ^ 128;
    for (int i = 0; bits % 4 != 0 && i < kBlock; ++i) {
        int bit = i * bits;
        int value = p[bit / 8] >> (bit % 8);
        if (bit % 8 + bits > 8) value |= p[bit / 8 + 1] << (8 - bit % 8);
        out.codes[i] = static_cast<uint8_t>(value & ((1 << bits) - 1));
    }
    const int64_t group = b * kBlock / parts.group, width = scale_bytes(parts.type);
    out.scale = out.minimum = 0;
    std::memcpy(&out.scale, parts.scales + row * parts.row_bytes + group * width, width);
    std::memcpy(&out.minimum, parts.biases + row * parts.row_bytes + group * width, width);
}

int64_t source_row_bytes(SourceFormat source, int64_t columns) {
    switch (source) {
        case SourceFormat::F32: return columns * 4;
        case SourceFormat::F16: case SourceFormat::BF16: return columns * 2;
        case SourceFormat::Q4_0: case SourceFormat::IQ4_NL: return columns / 32 * 18;
        case SourceFormat::Q4_1: return columns / 32 * 20;
        case SourceFormat::Q5_0: return columns / 32 * 22;
        case SourceFormat::Q5_1: return columns / 32 * 24;
        case SourceFormat::Q8_0: return columns / 32 * 34;
        case SourceFormat::Q2_K: return columns / 256 * 84;
        case SourceFormat::Q3_K: return columns / 256 * 110;
        case SourceFormat::Q4_K: return columns / 256 * 144;
        case SourceFormat::Q5_K: return columns / 256 * 176;
        case SourceFormat::Q6_K: return columns / 256 * 210;
        case SourceFormat::IQ4_XS: return columns / 256 * 136;
        case SourceFormat::TQ1_0: return columns / 256 * 54;
        case SourceFormat::TQ2_0: return columns / 256 * 66;
        case SourceFormat::MXFP4: return columns / 32 * 17;
        case SourceFormat::Q1_0: return columns / 128 * 18;
        case SourceFormat::TQ2_0_G128: case SourceFormat::PQ2_0: return columns / 128 * 34;
        case SourceFormat::Q2_0: return columns / 64 * 18;
        case SourceFormat::PTQ1_0: return columns / 128 * 28;
        case SourceFormat::IQ2_XXS: return columns / 256 * 66;
        case SourceFormat::IQ2_XS: return columns / 256 * 74;
        case SourceFormat::IQ2_S: return columns / 256 * 82;
        case SourceFormat::IQ3_XXS: return columns / 256 * 98;
        case SourceFormat::IQ3_S: return columns / 256 * 110;
        case SourceFormat::IQ1_S: return columns / 256 * 50;
        case SourceFormat::IQ1_M: return columns / 256 * 56;
        case SourceFormat::NVFP4: return columns / 64 * 36;
        case SourceFormat::FP8_32: return columns / 32 * 36;
        case SourceFormat::FP8_128: return columns / 128 * 132;
        default: return 0;
    }
}

}  // namespace grus
