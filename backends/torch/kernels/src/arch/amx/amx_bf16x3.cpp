// AMX: f32 matrix products by the bf16x3 split. Each f32 is the sum of three bf16 numbers. See UnitBf16x3 in tier.hpp.
#include "arch/tier.hpp"

#include "arch/amx/amx.hpp"

#if defined(GRUS_AMX)
#include <immintrin.h>

#include <cstring>
#include <utility>

#include "common/compiler.hpp"

TARGET_BEGIN(GRUS_AMX_TARGET)
namespace grus {
namespace {

#include "arch/avx512/lanes512.inl"
#include "formats/block_reader.inl"
#include "arch/amx/transpose.inl"

INLINE __mmask16 up_to(int64_t many) { return static_cast<__mmask16>(many >= 16 ? 0xffff : many <= 0 ? 0 : (1 << many) - 1); }

struct Numbers { __m512 low, high; };  // 32 in a row

INLINE __m512i rounded(const Numbers& x) { return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(x.high, x.low)); }
INLINE __m512 widened(__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); }
INLINE Numbers without(const Numbers& x, __m512i part) {
    return {_mm512_sub_ps(x.low, widened(_mm512_castsi512_si256(part))),
            _mm512_sub_ps(x.high, widened(_mm512_extracti64x4_epi64(part, 1)))};
}

// Each rest has so few bits that taking the next part from it is exact.
INLINE void split_bf16x3(const UnitFloats& in, int64_t row, int64_t column, __m512i (&part)[3]) {
    if (row >= in.rows) {
        part[0] = part[1] = part[2] = _mm512_setzero_si512();
        return;
    }
    const float* from = in.from + row * in.stride + column;
    const int64_t left = in.columns - column;
    const Numbers x{_mm512_maskz_loadu_ps(up_to(left), from), _mm512_maskz_loadu_ps(up_to(left - 16), from + 16)};
    part[0] = rounded(x);
    const Numbers rest = without(x, part[0]);
    part[1] = rounded(rest);
    part[2] = rounded(without(rest, part[1]));
}

void split(const UnitFloats& in, uint16_t* to) {
    for (int64_t column = 0; column < in.columns; column += kBlock, to += kBf16x3Block) {
        for (int64_t row = 0; row < 16; ++row) {
            __m512i part[3];
            split_bf16x3(in, row, column, part);
            for (int i = 0; i < 3; ++i) _mm512_store_si512(to + i * kBf16x3Part + row * kBlock, part[i]);
        }
    }
}

void split_transposed(const UnitFloats& in, uint16_t* to) {
    for (int64_t column = 0; column < in.columns; column += kBlock, to += kBf16x3Block) {
        __m512i square[3][16];
        for (int64_t row = 0; row < 16; ++row) {
            __m512i part[3];
            split_bf16x3(in, row, column, part);
            for (int i = 0; i < 3; ++i) square[i][row] = part[i];
        }
        for (int i = 0; i < 3; ++i) {
            transpose_16x16(square[i]);
            for (int row = 0; row < 16; ++row) _mm512_store_si512(to + i * kBf16x3Part + row * kBlock, square[i][row]);
        }
    }
}

// Registers 0 to 3 hold sums, 4 and 5 tokens, 6 and 7 weights; registers are part of an instruction's text.
#define GRUS_SUMS(from, stride)                              \
    _tile_loadd(0, from, stride);                            \
    if constexpr (N > 1) { _tile_loadd(1, from + kRows, stride); }
#define GRUS_MORE_SUMS(from, stride)                         \
    if constexpr (M > 1) { _tile_loadd(2, from, stride); }   \
    if constexpr (M > 1 && N > 1) { _tile_loadd(3, from + kRows, stride); }
#define GRUS_TOKENS(part)                                   \
    _tile_loadd(4, x + part * kBf16x3Part, 64);                  \
    if constexpr (M > 1) { _tile_loadd(5, x + in.x_tile + part * kBf16x3Part, 64); }
#define GRUS_WEIGHTS(part)                                  \
    _tile_loadd(6, w + part * kBf16x3Part, 64);                  \
    if constexpr (N > 1) { _tile_loadd(7, w + in.w_panel + part * kBf16x3Part, 64); }
#define GRUS_MULTIPLY                                        \
    _tile_dpbf16ps(0, 4, 6);                                 \
    if constexpr (N > 1) { _tile_dpbf16ps(1, 4, 7); }        \
    if constexpr (M > 1) {                                   \
        _tile_dpbf16ps(2, 5, 6);                             \
        if constexpr (N > 1) { _tile_dpbf16ps(3, 5, 7); }    \
    }

// One side is exchanged between two products; low ones first, so that what they add is rounded while the sum is small.
template <int M, int N>
void multiply_as(const UnitBf16x3& in) {
    const int64_t stride = in.y_stride * 4;
    float* const below = in.y + kRows * in.y_stride;
    if (in.first) {
        GRUS_SUMS(in.bias, 0)
        GRUS_MORE_SUMS(in.bias, 0)
    } else {
        GRUS_SUMS(in.y, stride)
        GRUS_MORE_SUMS(below, stride)
    }
    const uint16_t *x = in.x, *w = in.w;
    for (int64_t block = 0; block < in.blocks; ++block, x += kBf16x3Block, w += kBf16x3Block) {
        GRUS_TOKENS(0)
        GRUS_WEIGHTS(2)
        GRUS_MULTIPLY
        GRUS_WEIGHTS(1)
        GRUS_MULTIPLY
        GRUS_TOKENS(1)
        GRUS_MULTIPLY
        GRUS_WEIGHTS(0)
        GRUS_MULTIPLY
        GRUS_TOKENS(2)
        GRUS_MULTIPLY
        GRUS_TOKENS(0)
        GRUS_MULTIPLY
    }
    _tile_stored(0, in.y, stride);
    if constexpr (N > 1) { _tile_stored(1, in.y + kRows, stride); }
    if constexpr (M > 1) { _tile_stored(2, below, stride); }
    if constexpr (M > 1 && N > 1) { _tile_stored(3, below + kRows, stride); }
}
// Two tiles of tokens with two panels. Registers that the unit is done with are loaded anew while it multiplies the others:
// weights 6 and 7, or tokens 4 and 5, are exchanged between two products.
#define GRUS_EXCHANGE_WEIGHTS(next6, next7) \
    _tile_dpbf16ps(0, 4, 6);                \
    _tile_dpbf16ps(2, 5, 6);                \
    next6;                                  \
    _tile_dpbf16ps(1, 4, 7);                \
    _tile_dpbf16ps(3, 5, 7);                \
    next7;
#define GRUS_EXCHANGE_TOKENS(next4, next5) \
    _tile_dpbf16ps(0, 4, 6);               \
    _tile_dpbf16ps(1, 4, 7);               \
    next4;                                 \
    _tile_dpbf16ps(2, 5, 6);               \
    _tile_dpbf16ps(3, 5, 7);               \
    next5;

template <>
void multiply_as<2, 2>(const UnitBf16x3& in) {
    constexpr int M = 2, N = 2;
    const int64_t stride = in.y_stride * 4;
    float* const below = in.y + kRows * in.y_stride;
    if (in.first) {
        GRUS_SUMS(in.bias, 0)
        GRUS_MORE_SUMS(in.bias, 0)
    } else {
        GRUS_SUMS(in.y, stride)
        GRUS_MORE_SUMS(below, stride)
    }
    const uint16_t *x = in.x, *w = in.w, *x2 = x + in.x_tile, *w2 = w + in.w_panel;
    GRUS_TOKENS(0)
    GRUS_WEIGHTS(2)
    for (int64_t block = 1; block <= in.blocks; ++block) {
        GRUS_EXCHANGE_WEIGHTS(_tile_loadd(6, w + kBf16x3Part, 64), _tile_loadd(7, w2 + kBf16x3Part, 64))
        GRUS_EXCHANGE_TOKENS(_tile_loadd(4, x + kBf16x3Part, 64), _tile_loadd(5, x2 + kBf16x3Part, 64))
        GRUS_EXCHANGE_WEIGHTS(_tile_loadd(6, w, 64), _tile_loadd(7, w2, 64))
        GRUS_EXCHANGE_TOKENS(_tile_loadd(4, x + 2 * kBf16x3Part, 64), _tile_loadd(5, x2 + 2 * kBf16x3Part, 64))
        GRUS_EXCHANGE_TOKENS(_tile_loadd(4, x, 64), _tile_loadd(5, x2, 64))
        const int64_t step = block < in.blocks ? kBf16x3Block : 0;  // behind the last one nothing may be read
        x += step, x2 += step, w += step, w2 += step;
        GRUS_EXCHANGE_WEIGHTS(_tile_loadd(6, w + 2 * kBf16x3Part, 64), _tile_loadd(7, w2 + 2 * kBf16x3Part, 64))
        _tile_loadd(4, x, 64);
        _tile_loadd(5, x2, 64);
    }
    _tile_stored(0, in.y, stride);
    _tile_stored(1, in.y + kRows, stride);
    _tile_stored(2, below, stride);
    _tile_stored(3, below + kRows, stride);
}
#undef GRUS_EXCHANGE_WEIGHTS
#undef GRUS_EXCHANGE_TOKENS
#undef GRUS_SUMS
#undef GRUS_MORE_SUMS
#undef GRUS_TOKENS
#undef GRUS_WEIGHTS
#undef GRUS_MULTIPLY

void multiply(const UnitBf16x3& in) {
    if (in.tiles > 1) in.panels > 1 ? multiply_as<2, 2>(in) : multiply_as<2, 1>(in);
    else in.panels > 1 ? multiply_as<1, 2>(in) : multiply_as<1, 1>(in);
}

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const UnitBf16x3Kernels* amx_bf16x3() {
    static const UnitBf16x3Kernels kernels{split, split_transposed, multiply};
    return &kernels;
}
}  // namespace grus
#else
namespace grus {
const UnitBf16x3Kernels* amx_bf16x3() { return nullptr; }
}  // namespace grus
#endif
