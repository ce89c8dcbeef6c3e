// AVX-512 BF16: rows of bf16 weights times bf16 activations. AMD since Zen 4, Intel since Cooper Lake.
#include "arch/tier.hpp"

#if (defined(__x86_64__) || defined(_M_X64)) && !defined(GRUS_NO_AVX512_BF16)
#include <immintrin.h>

#include <algorithm>
#include <utility>

#include "common/compiler.hpp"
#include "common/half_float.hpp"

TARGET_BEGIN("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace grus {
namespace {

constexpr int64_t kAhead = 6144;  // prefetch distance in 12-bit rows, bytes

INLINE __m512bh as_bf16(__m512i v) {
    __m512bh r;
    static_assert(sizeof r == sizeof v);
    __builtin_memcpy(&r, &v, sizeof r);
    return r;
}

void round_row(const float* x, int64_t columns, uint16_t* to) {
    for (int64_t c = 0; c < columns; c += 16) {
        const __mmask16 some = columns - c >= 16 ? 0xffff : static_cast<__mmask16>((1u << (columns - c)) - 1);
        __m256bh half = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(some, x + c));
        __builtin_memcpy(to + c, &half, 32);
    }
    for (int64_t c = (columns + 15) / 16 * 16; c % kBlock; ++c) to[c] = 0;
}

#include "arch/avx512/sums_of.inl"

// `R` rows from `first`, read side by side, times tokens token .. token + T: sums to acc[0 .. T * R].
template <int R, int T>
INLINE void some(const Rows& in, int64_t first, int token, __m512* acc) {
    constexpr int chains = R * T >= 4 ? 1 : 4 / (R * T);
    const uint16_t* w[R];
    for (int r = 0; r < R; ++r) w[r] = reinterpret_cast<const uint16_t*>(in.data + std::min(first + r, in.rows - 1) * in.row_bytes);
    const uint16_t* x[T];
    for (int t = 0; t < T; ++t) x[t] = in.x16 + (token + t) * in.x_token;
    __m512 part[T][R][chains];
    for (int t = 0; t < T; ++t)
        for (int r = 0; r < R; ++r)
            for (int i = 0; i < chains; ++i) part[t][r][i] = _mm512_setzero_ps();
    auto step = [&](int64_t c, int chain, __mmask32 mask) INLINE_LAMBDA {
        __m512bh ws[R];
        for (int r = 0; r < R; ++r) ws[r] = as_bf16(_mm512_maskz_loadu_epi16(mask, w[r] + c));
        for (int t = 0; t < T; ++t) {
            const __m512bh xs = as_bf16(_mm512_loadu_si512(x[t] + c));
            for (int r = 0; r < R; ++r) part[t][r][chain] = _mm512_dpbf16_ps(part[t][r][chain], ws[r], xs);
        }
    };
    int64_t c = 0;
    for (; c + chains * kBlock <= in.columns; c += chains * kBlock)
        for (int i = 0; i < chains; ++i) step(c + i * kBlock, i, 0xffffffffu);
    for (; c + kBlock <= in.columns; c += kBlock) step(c, 0, 0xffffffffu);
    if (c < in.columns) step(c, 0, static_cast<__mmask32>((1ull << (in.columns - c)) - 1));
    for (int t = 0; t < T; ++t)
        for (int r = 0; r < R; ++r) {
            for (int i = 1; i < chains; ++i) part[t][r][0] = _mm512_add_ps(part[t][r][0], part[t][r][i]);
            acc[t * R + r] = part[t][r][0];
        }
}

template <int N>
void rows_tile(const Rows& in) {
    __m512 acc[16];
    alignas(64) float sums[16];
    if (in.streamed) {  // rows one after the other, so that memory is read in order
        constexpr int rows = 16 / N;
        for (int64_t first = 0; first < in.rows; first += rows) {
            for (int r = 0; r < rows; ++r) some<1, N>(in, first + r, 0, acc + r * N);
            _mm512_store_ps(sums, sums_of(acc));
            for (int r = 0; r < rows && first + r < in.rows; ++r)
                for (int t = 0; t < N; ++t) in.out[t * kRows + first + r] = sums[r * N + t];
        }
        return;
    }
    constexpr int tokens = N < 4 ? N : 4, rows = 16 / tokens < 4 ? 16 / tokens : 4;  // each load serves several products
    for (int i = 0; i < 16; ++i) acc[i] = _mm512_setzero_ps();
    for (int64_t first = 0; first < in.rows; first += rows) {
        for (int token = 0; token < N; token += tokens) {
            some<rows, tokens>(in, first, token, acc);
            _mm512_store_ps(sums, sums_of(acc));
            for (int t = 0; t < tokens; ++t)
                for (int r = 0; r < rows && first + r < in.rows; ++r) in.out[(token + t) * kRows + first + r] = sums[t * rows + r];
        }
    }
}

// Dot products of a 12-bit row with `T` tokens. Exponents are looked up in two tables, one for each byte of a number.
template <int T>
INLINE void dot_bf12_row(const uint8_t* row, int base, int64_t blocks, const uint16_t* const* x, __m512* acc) {
    alignas(16) int8_t high[16], low[16];
    for (int code = 0; code < 16; ++code) {
        const int exponent = code ? base + code : 0;
        high[code] = static_cast<int8_t>(exponent >> 1);
        low[code] = static_cast<int8_t>(exponent << 7);
    }
    const __m512i of_high = _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(high)));
    const __m512i of_low = _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(low)));
    const __m512i code_bits = _mm512_set1_epi8(15), sign = _mm512_set1_epi8(-128);
    __m512 part[T][2];
    for (int t = 0; t < T; ++t) part[t][0] = part[t][1] = _mm512_setzero_ps();
    for (int64_t b = 0; b < blocks; ++b, row += kBf12Bytes) {
        for (int64_t at = 0; at < kBf12Bytes; at += 64) _mm_prefetch(reinterpret_cast<const char*>(row + kAhead + at), _MM_HINT_T1);
        const __m512i codes = _mm512_loadu_si512(row + kBf12Columns);
        for (int half = 0; half < 2; ++half) {
            const __m512i mine = _mm512_and_si512(half ? _mm512_srli_epi16(codes, 4) : codes, code_bits);
            const __m512i signed_fractions = _mm512_loadu_si512(row + 64 * half);
            // the table's bits where `sign` has none, the sign elsewhere; and the other way round
            const __m512i top = _mm512_ternarylogic_epi32(sign, signed_fractions, _mm512_shuffle_epi8(of_high, mine), 0xea);
            const __m512i bottom = _mm512_ternarylogic_epi32(sign, signed_fractions, _mm512_shuffle_epi8(of_low, mine), 0xae);
            const __m512bh first = as_bf16(_mm512_unpacklo_epi8(bottom, top)), second = as_bf16(_mm512_unpackhi_epi8(bottom, top));
            for (int t = 0; t < T; ++t) {
                const uint16_t* from = x[t] + b * kBf12Columns + 64 * half;
                part[t][0] = _mm512_dpbf16_ps(part[t][0], first, as_bf16(_mm512_loadu_si512(from)));
                part[t][1] = _mm512_dpbf16_ps(part[t][1], second, as_bf16(_mm512_loadu_si512(from + 32)));
            }
        }
    }
    for (int t = 0; t < T; ++t) acc[t] = _mm512_add_ps(part[t][0], part[t][1]);
}

template <int N>
void bf12_tile(const Rows& in) {
    constexpr int rows = 16 / N;
    const uint16_t* x[N];
    for (int t = 0; t < N; ++t) x[t] = in.x16 + t * in.x_token;
    __m512 acc[16];
    alignas(64) float sums[16];
    for (int64_t first = 0; first < in.rows; first += rows) {
        for (int r = 0; r < rows; ++r) {
            const int64_t row = std::min(first + r, in.rows - 1);
            dot_bf12_row<N>(in.data + row * in.row_bytes, in.bases[row], in.row_bytes / kBf12Bytes, x, acc + r * N);
        }
        _mm512_store_ps(sums, sums_of(acc));
        for (int r = 0; r < rows && first + r < in.rows; ++r)
            for (int t = 0; t < N; ++t) in.out[t * kRows + first + r] = sums[r * N + t];
    }
    for (const GrusBf12Outlier* outlier = in.outliers; outlier != in.outliers_end; ++outlier)
        for (int t = 0; t < N; ++t) in.out[t * kRows + outlier->row] += from_bf16(outlier->bits) * from_bf16(x[t][outlier->column]);
}

// A few positions of a convolution times V panels of sixteen outputs. A word of inputs or weights is a pair of bf16.
template <int N, int V>
void conv_tile(const ConvTile& c) {
    __m512 acc[N][V];
    UNROLL for (int n = 0; n < N; ++n)
        UNROLL for (int v = 0; v < V; ++v) acc[n][v] = _mm512_loadu_ps(c.bias + v * kRows);
    const float *w = c.w, *w2 = c.w + (V - 1) * c.panel;
    const uint8_t* prefetch = c.prefetch;
    for (int64_t tap = 0; tap < c.taps; ++tap) {
        const float* x[N];
        UNROLL for (int n = 0; n < N; ++n) x[n] = c.x + tap * c.tap + n * c.position;
        for (int64_t i = 0; i < c.inputs; ++i, w += kRows, w2 += kRows) {
            __m512bh of[V];
            of[0] = as_bf16(_mm512_loadu_si512(w));
            PREFETCH_FAR(prefetch);
            if constexpr (V == 2) {
                of[1] = as_bf16(_mm512_loadu_si512(w2));
                PREFETCH_FAR(prefetch + c.panel * 4);
            }
            prefetch += c.prefetch_bytes;
            UNROLL for (int n = 0; n < N; ++n) {
                int32_t pair;
                __builtin_memcpy(&pair, x[n] + i, 4);
                const __m512bh given = as_bf16(_mm512_set1_epi32(pair));
                UNROLL for (int v = 0; v < V; ++v) acc[n][v] = _mm512_dpbf16_ps(acc[n][v], of[v], given);
            }
        }
    }
    UNROLL for (int n = 0; n < N; ++n) {
        UNROLL for (int v = 0; v < V; ++v) {
            const int64_t at = n * c.row + v * kRows, exist = c.columns - v * kRows;
            const __mmask16 mask = static_cast<__mmask16>(exist >= kRows ? 0xffff : exist <= 0 ? 0 : (1 << exist) - 1);
            const __m512 y = c.add ? _mm512_add_ps(acc[n][v], _mm512_maskz_loadu_ps(mask, c.add + at)) : acc[n][v];
            _mm512_mask_storeu_ps(c.y + at, mask, y);
        }
    }
}

// See `block_input_sixteen` of conv/winograd.inl.
void block_input(const float* const* rows, int64_t n, float* to, int64_t point) {
    constexpr BlockFactors f = block_factors();
    const __m512 near = _mm512_set1_ps(f.near), far = _mm512_set1_ps(f.far), near2 = _mm512_set1_ps(f.near2);
    const __m512 far2 = _mm512_set1_ps(f.far2), sum = _mm512_set1_ps(f.sum), product = _mm512_set1_ps(f.product);
    uint16_t* out = reinterpret_cast<uint16_t*>(to);
    const auto put = [&](int64_t at, __m512 value) INLINE_LAMBDA {
        const __m256bh half = _mm512_cvtneps_pbh(value);
        __builtin_memcpy(out + at, &half, 32);
    };
    for (int64_t i = 0; i < n; i += kRows) {
        __m512 d[kBlockPoints];
        UNROLL for (int64_t k = 0; k < kBlockPoints; ++k) d[k] = _mm512_loadu_ps(rows[k] + i);
        put(i, _mm512_fmadd_ps(d[0], product, _mm512_fnmadd_ps(d[2], sum, d[4])));
        put(i + 10 * point, _mm512_fmadd_ps(d[1], product, _mm512_fnmadd_ps(d[3], sum, d[5])));
        const __m512 near_even = _mm512_fnmadd_ps(d[2], far2, d[4]), near_odd = _mm512_mul_ps(_mm512_fnmadd_ps(d[1], far2, d[3]), near);
        const __m512 far_even = _mm512_fnmadd_ps(d[2], near2, d[4]), far_odd = _mm512_mul_ps(_mm512_fnmadd_ps(d[1], near2, d[3]), far);
        put(i + 2 * point, _mm512_add_ps(near_even, near_odd));
        put(i + 4 * point, _mm512_sub_ps(near_even, near_odd));
        put(i + 6 * point, _mm512_add_ps(far_even, far_odd));
        put(i + 8 * point, _mm512_sub_ps(far_even, far_odd));
    }
}

template <int... N>
Bf16ConvKernels conv_kernels(std::integer_sequence<int, N...>) {
    return {{{conv_tile<N + 1, 1>, conv_tile<N + 1, 2>}...}, block_input};
}

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const Bf16Kernels* bf16_avx512() {
    static const Bf16ConvKernels conv = conv_kernels(std::make_integer_sequence<int, kMostPositions>{});
    static const Bf16Kernels kernels{round_row, {rows_tile<1>, rows_tile<2>, nullptr, rows_tile<4>, nullptr, nullptr, nullptr, rows_tile<8>},
                                     {bf12_tile<1>, bf12_tile<2>, nullptr, bf12_tile<4>}, &conv};
    return &kernels;
}
}  // namespace grus
#else
namespace grus {
const Bf16Kernels* bf16_avx512() { return nullptr; }
}  // namespace grus
#endif
