// AMX: f32 convolutions by a bf16x2 split. Each f32 is the sum of a high and a low bf16, and a product is the sum of three bf16
// products; the omitted one is below 2^-16 of the result. Sums are f32.
#include "arch/tier.hpp"

#include "arch/amx/amx.hpp"

#if defined(GRUS_AMX)
#include <immintrin.h>

#include <cstring>
#include <utility>

#include "common/compiler.hpp"
#include "common/half_float.hpp"

TARGET_BEGIN(GRUS_AMX_TARGET)
namespace grus {
namespace {

constexpr int kSquare = kRows * kRows;

// x + sin(x * rate)^2 * size. The sine as in conv.inl.
INLINE __m512 snaked(__m512 x, __m512 rate, __m512 size) {
    const __m512 turn = _mm512_set1_ps(12582912.0f), angle = _mm512_mul_ps(x, rate);
    const __m512 turns = _mm512_sub_ps(_mm512_fmadd_ps(angle, _mm512_set1_ps(0.318309886f), turn), turn);
    __m512 r = _mm512_fnmadd_ps(turns, _mm512_set1_ps(3.140625f), angle);
    r = _mm512_fnmadd_ps(turns, _mm512_set1_ps(9.67502593994140625e-4f), r);
    r = _mm512_fnmadd_ps(turns, _mm512_set1_ps(1.509957990978376e-7f), r);
    const __m512 r2 = _mm512_mul_ps(r, r);
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(2.6083159809786594e-06f), r2, _mm512_set1_ps(-1.981069071916863e-4f));
    p = _mm512_fmadd_ps(p, r2, _mm512_set1_ps(8.333078585565091e-3f));
    p = _mm512_fmadd_ps(p, r2, _mm512_set1_ps(-1.6666659712791443e-1f));
    const __m512 s = _mm512_fmadd_ps(r, _mm512_mul_ps(r2, p), r);
    return _mm512_fmadd_ps(_mm512_mul_ps(s, s), size, x);
}

INLINE __m512 row_at(const UnitRow& row, int64_t i, __mmask16 mask) {
    __m512 x = _mm512_maskz_loadu_ps(mask, row.x + i);
    if (row.scale) x = _mm512_fmadd_ps(x, _mm512_maskz_loadu_ps(mask, row.scale + i), _mm512_maskz_loadu_ps(mask, row.shift + i));
    if (!row.rate) return x;
    return snaked(x, _mm512_maskz_loadu_ps(mask, row.rate + i), _mm512_maskz_loadu_ps(mask, row.size + i));
}

INLINE __mmask16 up_to(int64_t many) { return static_cast<__mmask16>(many >= 16 ? 0xffff : many <= 0 ? 0 : (1 << many) - 1); }

void snake(const UnitRow& row, float* to) {
    for (int64_t i = 0; i < row.inputs; i += 16) {
        const __mmask16 mask = up_to(row.inputs - i);
        _mm512_mask_storeu_ps(to + i, mask, row_at(row, i, mask));
    }
}

void split(const UnitRow& row, int64_t low, uint16_t* to) {
    for (int64_t i = 0; i < low; i += 16) {
        const __m512 x = row_at(row, i, up_to(row.inputs - i));
        const __m256i high = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x));
        const __m512 left = _mm512_sub_ps(x, _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), high);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + low + i), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(left)));
    }
}

// Registers 0 to 3 hold sums, 4 and 5 positions, 6 and 7 weights; registers are part of an instruction's text.
#define GRUS_MULTIPLY                                  \
    _tile_dpbf16ps(0, 4, 6);                           \
    if constexpr (N > 1) { _tile_dpbf16ps(1, 4, 7); }  \
    if constexpr (M > 1) {                             \
        _tile_dpbf16ps(2, 5, 6);                       \
        if constexpr (N > 1) { _tile_dpbf16ps(3, 5, 7); } \
    }
#define GRUS_POSITIONS(from)                                      \
    _tile_loadd(4, from, stride);                                 \
    if constexpr (M > 1) { _tile_loadd(5, (from) + 16 * c.row, stride); }
#define GRUS_WEIGHTS(from)                             \
    _tile_loadd(6, from, 64);                          \
    if constexpr (N > 1) { _tile_loadd(7, (from) + 2 * kSquare, 64); }

// M times sixteen positions, N panels of sixteen outputs. The taps of a few inputs one after the other: they read nearly the
// same rows, which so stay in the first-level cache.
template <int M, int N>
INLINE void multiply(const UnitConv& c, const uint16_t* x, float* sums) {
    const int64_t stride = c.row * 2;
    const uint16_t* w = c.w;
    _tile_zero(0);
    if constexpr (N > 1) { _tile_zero(1); }
    if constexpr (M > 1) { _tile_zero(2); }
    if constexpr (M > 1 && N > 1) { _tile_zero(3); }
    for (int64_t block = 0; block < c.blocks; ++block, x += kBlock) {
        const uint16_t* at = x;
        for (int64_t tap = 0; tap < c.taps; ++tap, at += c.tap, w += N * 4 * kSquare) {
            GRUS_POSITIONS(at)
            GRUS_WEIGHTS(w + N * 2 * kSquare)
            GRUS_MULTIPLY
            GRUS_WEIGHTS(w)
            GRUS_MULTIPLY
            GRUS_POSITIONS(at + c.low)
            GRUS_MULTIPLY
        }
    }
    _tile_stored(0, sums, 64);
    if constexpr (N > 1) { _tile_stored(1, sums + kSquare, 64); }
    if constexpr (M > 1) { _tile_stored(2, sums + 2 * kSquare, 64); }
    if constexpr (M > 1 && N > 1) { _tile_stored(3, sums + 3 * kSquare, 64); }
}
#undef GRUS_MULTIPLY
#undef GRUS_POSITIONS
#undef GRUS_WEIGHTS

template <int N>
INLINE void finish(const UnitConv& c, const float* sums, int64_t first, int64_t positions) {
    for (int n = 0; n < N; ++n) {
        const int64_t column = c.column + n * kRows;
        const __mmask16 mask = up_to(c.outputs - column);
        const __m512 bias = _mm512_loadu_ps(c.bias + column);
        for (int64_t i = 0; i < positions; ++i) {
            const int64_t at = (first + i) * c.outputs + column;
            __m512 y = _mm512_add_ps(_mm512_loadu_ps(sums + (i / kRows * 2 + n) * kSquare + i % kRows * kRows), bias);
            if (c.add) y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(mask, c.add + at));
            _mm512_mask_storeu_ps(c.y + at, mask, y);
        }
    }
}

// What `finish` will read and write: pieces of many rows, which a CPU does not foresee. It comes while sums are made.
template <int N>
INLINE void prefetch(const UnitConv& c, int64_t first, int64_t positions) {
    for (int64_t i = 0; i < positions; ++i) {
        const int64_t at = (first + i) * c.outputs + c.column;
        for (int64_t n = 0; n < N * kRows; n += kRows) {
            if (c.add) PREFETCH(c.add + at + n);
            PREFETCH(c.y + at + n);
        }
    }
}

template <int N>
void all_positions(const UnitConv& c) {
    alignas(64) float sums[4 * kSquare];
    for (int64_t t = 0; t < c.positions; t += 2 * kRows) {
        const int64_t left = c.positions - t;
        prefetch<N>(c, t, left < 2 * kRows ? left : 2 * kRows);
        if (left > kRows) multiply<2, N>(c, c.x + t * c.row, sums);
        else multiply<1, N>(c, c.x + t * c.row, sums);
        finish<N>(c, sums, t, left < 2 * kRows ? left : 2 * kRows);
    }
}

void convolve(const UnitConv& c) { c.panels == 2 ? all_positions<2>(c) : all_positions<1>(c); }

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const UnitConvKernels* amx_conv() {
    static const UnitConvKernels kernels{snake, split, convolve};
    return &kernels;
}
}  // namespace grus
#else
namespace grus {
const UnitConvKernels* amx_conv() { return nullptr; }
}  // namespace grus
#endif
