// AMX: prompt products of quantized weights that are dequantized to bf16 first. See UnitPrompt in tier.hpp.
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

INLINE __mmask16 up_to(int64_t many) { return static_cast<__mmask16>(many >= 16 ? 0xffff : many <= 0 ? 0 : (1 << many) - 1); }
INLINE __m512i as_bf16(Floats high, Floats low) { return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high.v, low.v)); }

void round(const UnitFloats& in, uint16_t* to) {
    for (int64_t c = 0; c < in.columns; c += kBlock, to += kRows * kBlock) {
        const __mmask16 low = up_to(in.columns - c), high = up_to(in.columns - c - 16);
        for (int64_t row = 0; row < kRows; ++row) {
            __m512i made = _mm512_setzero_si512();
            if (row < in.rows) {
                const float* x = in.from + row * in.stride + c;
                made = as_bf16({_mm512_maskz_loadu_ps(high, x + 16)}, {_mm512_maskz_loadu_ps(low, x)});
            }
            _mm512_store_si512(to + row * kBlock, made);
        }
    }
}

// A lane holds four columns of a row. Their floats are what dequantizing gives, bit for bit, before they are rounded.
template <int Column>
INLINE Floats column_of(__m512i codes, __m512i low, Floats scale, Floats minimum) {
    if constexpr (Column > 0) codes = _mm512_srli_epi32(codes, 8 * Column);
    if constexpr (Column < 3) codes = _mm512_and_si512(codes, _mm512_set1_epi32(255));
    return add(mul(scale, to_floats({_mm512_sub_epi32(codes, low)})), minimum);
}

template <Code C>
void weigh(const UnitWeights& in, uint16_t* to) {
    Tile of_values{};
    of_values.values = in.values;
    const __m512i low = _mm512_set1_epi32(in.offset + (Reader<C>::is_signed ? 128 : 0));  // what `get` added, too
    const __m512i woven = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5,
                                           20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const int64_t step = (1 + in.minima) * kRows;
    const uint8_t* codes = in.codes;
    const float* scales = in.scales;
    for (int64_t b = 0; b < in.blocks; ++b, codes += code_bytes(C), scales += in.halves * step, to += kRows * kBlock) {
        unrolled<8>([&](auto group) INLINE_LAMBDA {
            constexpr int g = decltype(group)::value;
            const float* mine = scales + g * in.halves / 8 * step;
            const Floats scale = load_floats(mine), minimum = in.minima ? load_floats(mine + kRows) : zeros();
            const __m512i four = Reader<C>::template get<g>(of_values, codes).v;
            const __m512i first = as_bf16(column_of<1>(four, low, scale, minimum), column_of<0>(four, low, scale, minimum));
            const __m512i last = as_bf16(column_of<3>(four, low, scale, minimum), column_of<2>(four, low, scale, minimum));
            _mm512_store_si512(to + 64 * g, _mm512_permutexvar_epi16(woven, first));
            _mm512_store_si512(to + 64 * g + 32, _mm512_permutexvar_epi16(woven, last));
        });
    }
}

// Floats of eight bits lie column after column.
void weigh_f8(const UnitWeights& in, uint16_t* to) {
    const __m512i woven = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5,
                                           20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const uint8_t* codes = in.codes;
    for (int64_t b = 0; b < in.blocks; ++b) {
        const Floats scale = load_floats(in.scales + b * kRows);
        for (int pair = 0; pair < kBlock / 2; ++pair, codes += 2 * kRows, to += kBlock) {
            const __m512i both = as_bf16(mul(scale, load_f8(codes + kRows)), mul(scale, load_f8(codes)));
            _mm512_store_si512(to, _mm512_permutexvar_epi16(woven, both));
        }
    }
}

// Registers 0 to 3 hold sums, 4 and 5 tokens, 6 and 7 weights; registers are part of an instruction's text.
template <int M, int N>
void multiply_as(const UnitPrompt& in) {
    const int64_t stride = in.y_stride * 4, below = kRows * in.y_stride;
    const float *from = in.first ? in.bias[0] : in.y[0], *beside = in.first ? in.bias[1] : in.y[1];
    const int64_t apart = in.first ? 0 : stride, lower = in.first ? 0 : below;
    _tile_loadd(0, from, apart);
    if constexpr (N > 1) { _tile_loadd(1, beside, apart); }
    if constexpr (M > 1) { _tile_loadd(2, from + lower, apart); }
    if constexpr (M > 1 && N > 1) { _tile_loadd(3, beside + lower, apart); }
    const uint16_t *x = in.x, *w = in.w;
    for (int64_t block = 0; block < in.blocks; ++block, x += kRows * kBlock, w += kRows * kBlock) {
        _tile_loadd(6, w, 64);
        _tile_loadd(4, x, 64);
        _tile_dpbf16ps(0, 4, 6);
        if constexpr (M > 1) {
            _tile_loadd(5, x + in.x_tile, 64);
            _tile_dpbf16ps(2, 5, 6);
        }
        if constexpr (N > 1) {
            _tile_loadd(7, w + in.w_panel, 64);
            _tile_dpbf16ps(1, 4, 7);
            if constexpr (M > 1) { _tile_dpbf16ps(3, 5, 7); }
        }
    }
    _tile_stored(0, in.y[0], stride);
    if constexpr (N > 1) { _tile_stored(1, in.y[1], stride); }
    if constexpr (M > 1) { _tile_stored(2, in.y[0] + below, stride); }
    if constexpr (M > 1 && N > 1) { _tile_stored(3, in.y[1] + below, stride); }
}

void multiply(const UnitPrompt& in) {
    if (in.tiles > 1) in.panels > 1 ? multiply_as<2, 2>(in) : multiply_as<2, 1>(in);
    else in.panels > 1 ? multiply_as<1, 2>(in) : multiply_as<1, 1>(in);
}

template <Code... C>
UnitPromptKernels kernels_for() {
    UnitPromptKernels made{};
    made.round = round;
    ((made.weigh[static_cast<int>(C)] = weigh<C>), ...);
    made.weigh[static_cast<int>(Code::F8)] = weigh_f8;
    made.multiply = multiply;
    return made;
}

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const UnitPromptKernels* amx_prompts() {
    static const UnitPromptKernels kernels =
        kernels_for<Code::S8, Code::U6, Code::U5, Code::U4, Code::U3, Code::U2, Code::U1, Code::L4, Code::L3>();
    return &kernels;
}
}  // namespace grus
#else
namespace grus {
const UnitPromptKernels* amx_prompts() { return nullptr; }
}  // namespace grus
#endif
