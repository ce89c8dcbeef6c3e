// Memory layout of a packed matrix: formats, and offsets inside a panel.
//
// Sixteen rows form a panel. In a panel, the codes of four neighbouring columns of row 0 come first, then those of row 1,
// ... row 15: 64 bytes, so that every lane of a vector register belongs to one row and no sum across lanes is needed.
// Panels follow one another; each is read from its first byte to its last:
//
//     scales         one per row and group of blocks              f16, bf16 or f32
//     minima         the same, where the format has them
//     block_scales   one byte per row and (half) block            K-quants: scale = scales * block_scales
//     block_minima   the same, where the format has minima        K-quants: minimum = -minima * block_minima
//     codes          `code_bytes` per block of 32 columns
//
// Each region starts at a multiple of 64 bytes. A weight is scale * (code - offset) + minimum. Columns are padded to whole
// blocks and rows to whole panels; the padding is zero.
#pragma once
#include <cstdint>
#include <iterator>

#include "common/half_float.hpp"

namespace grus {

constexpr int kRows = 16;   // of a panel
constexpr int kBlock = 32;  // columns
constexpr int kQuad = 4;    // neighbouring columns of one row, the unit of a byte dot product

enum class Code : int32_t { S8, U6, U5, U4, U3, U2, U1, L4, L3, F32, F16, BF16, F8, Count };
enum class ScaleType : int32_t { F16, BF16, F32, None, E8M0 };  // E8M0: powers of two, a byte each; halved, as FP4's values are doubled
// A byte each, whole numbers or floats without a sign; or, with minima, whole numbers of six or four bits, see `Panel`.
enum class BlockScales : int32_t { None, SixBits, FourBits, Signed, E4M3 };

struct Format {
    Code code;
    ScaleType scale;
    int32_t blocks_per_scale;
    int32_t minima;   // 0 or 1
    BlockScales block_scales;
    int32_t halves;   // block scales per block: 1, or 2 where one covers 16 columns
    int32_t offset;   // of codes
    int32_t table;    // 0: codes are numbers; else whose values they stand for, see `values_of`

    bool dense() const { return code >= Code::F32; }  // multiplied as floats, with floats
};

enum Table : int32_t { kNumbers, kIQ4, kFP4, kIQ2, kIQ3XXS, kIQ3S, kIQ1 };

// What a scale is multiplied with before its block scales: a table's values are whole numbers, and E4M3 is read as if it were f16.
inline float unit_of(const Format& f) {
    if (f.code == Code::F8) return 256.0f;
    if (f.block_scales == BlockScales::E4M3) return f.table == kFP4 ? 128.0f : 256.0f;
    return f.table == kIQ2 || f.table == kIQ1 ? 0.125f : f.table == kIQ3XXS ? 0.25f : 1.0f;
}

constexpr int kStoredBlocks = 8;  // that share a scale, where blocks have scales of their own

// Whether kernels can take a format's scales as they are stored: those of GGUF's common types.
constexpr bool is_read_as_stored(const Format& f) {
    if (f.scale != ScaleType::F16 && f.scale != ScaleType::E8M0) return false;
    if (f.block_scales == BlockScales::None) return !f.minima && f.halves == 1 && f.blocks_per_scale == 1;
    if (f.blocks_per_scale != kStoredBlocks) return false;
    if (f.minima) return f.block_scales == (f.halves == 2 ? BlockScales::FourBits : BlockScales::SixBits);
    return f.halves == 2 || f.code == Code::L4;
}

constexpr int64_t code_bytes(Code code) {  // of 16 rows of one block
    switch (code) {
        case Code::F32: return 2048;
        case Code::F16: case Code::BF16: return 1024;
        case Code::S8: case Code::F8: return 512;
        case Code::U6: return 384;
        case Code::U5: return 320;
        case Code::U4: case Code::L4: return 256;
        case Code::U3: case Code::L3: return 192;
        case Code::U2: return 128;
        case Code::U1: return 64;
        default: return 0;
    }
}

inline int64_t scale_bytes(ScaleType type) { return type == ScaleType::F32 ? 4 : type == ScaleType::None ? 0 : type == ScaleType::E8M0 ? 1 : 2; }
inline float half_of_e8m0(uint8_t code) { return as_float(code < 2 ? 0x00200000u << code : static_cast<uint32_t>(code - 1) << 23); }
inline int64_t rounded(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Byte offsets inside a panel. Block scales and minima take no more bits than in a file, since one token's products wait for memory. Of four
// bits, a scale and its minimum share a byte, the scale below. Of six, a scale's byte has the minimum's highest two bits on top, and the low
// four of two minima, four blocks apart, share a byte.
struct Panel {
    int64_t blocks, groups, blocks_per_scale, minima, block_scales, block_minima, codes, bytes;
    int64_t bytes_per_block;  // scales included, rounded down
    float unit;
    bool powers;  // whether scales are E8M0

    Panel(const Format& f, int64_t columns) {
        blocks = (columns + kBlock - 1) / kBlock;
        groups = f.scale == ScaleType::None ? 0 : (blocks + f.blocks_per_scale - 1) / f.blocks_per_scale;
        blocks_per_scale = f.blocks_per_scale;
        int64_t scales = rounded(groups * kRows * scale_bytes(f.scale), 64);
        int64_t sub = f.block_scales == BlockScales::None ? 0 : rounded(blocks * f.halves * kRows, 64);
        minima = scales;
        block_scales = minima + (f.minima ? scales : 0);
        block_minima = block_scales + sub;
        codes = block_minima + (f.block_scales == BlockScales::SixBits ? blocks / 2 * kRows : 0);
        bytes = codes + blocks * code_bytes(f.code);
        bytes_per_block = blocks > 0 ? bytes / blocks : 0;
        unit = unit_of(f);
        powers = f.scale == ScaleType::E8M0;
    }

    static constexpr int64_t low_of_minimum(int64_t block) { return (block / kStoredBlocks * 4 + block % 4) * kRows; }  // in block_minima
    static constexpr bool is_upper(int64_t block) { return block % kStoredBlocks >= 4; }
};

// Sixteen values, or eight for codes of three bits: then the highest bit is a sign. `bias`: what is added to each, see Tier::signed_bias.
inline const int8_t* values_of(int32_t table, int bias = 0) {
    alignas(16) static constexpr int8_t values[][16] = {
        {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113},
        {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12},  // doubled
        {8, 25, 43, 0, -8, -25, -43, 0, 8, 25, 43, 0, -8, -25, -43, 0},
        {4, 12, 20, 28, 36, 44, 52, 62, -4, -12, -20, -28, -36, -44, -52, -62},
        {1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15},
        {-7, 1, 9, 0, -9, -1, 7, 0, -7, 1, 9, 0, -9, -1, 7, 0},  // eightfold: -1, 0 or 1, an eighth more or less
    };
    struct Unsigned { int8_t of[std::size(values)][16]; };
    alignas(16) static constexpr Unsigned raised = [] {
        Unsigned made{};
        for (size_t i = 0; i < std::size(values); ++i)
            for (int j = 0; j < 16; ++j) made.of[i][j] = static_cast<int8_t>(values[i][j] ^ -128);  // + 128, as a byte without a sign
        return made;
    }();
    if (table == kNumbers) return nullptr;
    return bias ? raised.of[table - 1] : values[table - 1];
}

// The bit planes that make up a code: `bits` wide, moved up to `place`, `start` bytes into the block's codes.
// A plane of b bits has b 64-byte vectors; quad g lies in vector g % b, shifted up by b * (g / b).
struct Plane { int bits, place, start; };
template <Code> struct Planes;
template <> struct Planes<Code::U6> { static constexpr Plane low{4, 0, 0}, high{2, 4, 256}; };
template <> struct Planes<Code::U5> { static constexpr Plane low{4, 0, 0}, high{1, 4, 256}; };
template <> struct Planes<Code::U4> { static constexpr Plane low{4, 0, 0}, high{0, 0, 0}; };
template <> struct Planes<Code::U3> { static constexpr Plane low{2, 0, 0}, high{1, 2, 128}; };
template <> struct Planes<Code::L3> : Planes<Code::U3> {};
template <> struct Planes<Code::U2> { static constexpr Plane low{2, 0, 0}, high{0, 0, 0}; };
template <> struct Planes<Code::U1> { static constexpr Plane low{1, 0, 0}, high{0, 0, 0}; };

}  // namespace grus
