// AVX-512 BF16: attention of an encoder, whose queries see all keys. A lane is a query, and each number of a register a pair: of a head's
// dimensions in scores, of keys in sums of values. Thirty-two queries go through sixty-four keys at a time, so that each number of a key
// or a value that is broadcast serves two registers. Exponentials are as exact as their rounding to bf16 asks for.
#include "arch/tier.hpp"

#if (defined(__x86_64__) || defined(_M_X64)) && !defined(GRUS_NO_AVX512_BF16)
#include <immintrin.h>

#include <algorithm>

#include "common/compiler.hpp"
#include "common/half_float.hpp"

TARGET_BEGIN("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace grus {
namespace {

constexpr int kSide = 8;  // keys, or dimensions of a value, whose sums are in registers
constexpr int64_t kKeys = 64;  // of one round: their scores stay in the nearest cache
constexpr float kHidden = -1e30f;  // finite: what is hidden must not look like what is broken
constexpr float kLog2E = 1.44269504f;  // exponentials are powers of two

INLINE __m512bh as_bf16(__m512i v) {
    __m512bh r;
    static_assert(sizeof r == sizeof v);
    __builtin_memcpy(&r, &v, sizeof r);
    return r;
}

INLINE __m512bh pair_at(const uint16_t* from) {  // the same two numbers in all lanes
    int32_t two;
    __builtin_memcpy(&two, from, 4);
    return as_bf16(_mm512_set1_epi32(two));
}

INLINE __m512i rounded(__m512 x) {  // bf16 in the low halves
    const __m256bh half = _mm512_cvtneps_pbh(x);
    __m256i bits;
    __builtin_memcpy(&bits, &half, sizeof bits);
    return _mm512_cvtepu16_epi32(bits);
}

INLINE __m512i paired(__m512 low, __m512 high) {
    return _mm512_or_si512(rounded(low), _mm512_slli_epi32(rounded(high), 16));
}

// 2 ^ x to within 5e-5 of itself; 0 far below, NaN of NaN.
INLINE __m512 power_of_two(__m512 x) {
    const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), r = _mm512_sub_ps(x, whole);
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(9.6181291e-3f), r, _mm512_set1_ps(5.5504109e-2f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(2.4022651e-1f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(6.9314718e-1f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, whole);
}

void bring(const float* keys, const float* values, int64_t apart, int64_t count, int64_t dim, uint16_t* k, uint16_t* v) {
    const int64_t padded = encoder_keys(count);
    std::fill_n(k + count * dim, (padded - count) * dim, uint16_t{0});
    std::fill_n(v + count / 2 * 2 * dim, (padded - count / 2 * 2) * dim, uint16_t{0});
    for (int64_t d = 0; d < dim; d += 16) {
        const __mmask16 some = dim - d >= 16 ? 0xffff : static_cast<__mmask16>((1u << (dim - d)) - 1);
        for (int64_t t = 0; t < count; ++t)
            _mm512_mask_cvtepi32_storeu_epi16(k + t * dim + d, some, rounded(_mm512_maskz_loadu_ps(some, keys + t * apart + d)));
        for (int64_t t = 0; t < count; t += 2) {
            const __m512 low = _mm512_maskz_loadu_ps(some, values + t * apart + d);
            const __m512 high = t + 1 < count ? _mm512_maskz_loadu_ps(some, values + (t + 1) * apart + d) : _mm512_setzero_ps();
            _mm512_mask_storeu_epi32(v + t * dim + 2 * d, some, paired(low, high));
        }
    }
}

// Queries times eight keys, of which `valid` are there: [8][32]. `top`: the largest of each query.
template <int Dim>
INLINE void eight_scores(const uint16_t* q, int64_t any_dim, const uint16_t* k, int64_t valid, float* scores, __m512 (&top)[2]) {
    const int64_t dim = Dim ? Dim : any_dim;
    __m512 acc[kSide][2];
    UNROLL for (int i = 0; i < kSide; ++i) acc[i][0] = acc[i][1] = _mm512_setzero_ps();
    for (int64_t d = 0; d < dim; d += 2, q += 4 * kRows) {
        const __m512bh first = as_bf16(_mm512_loadu_si512(q)), second = as_bf16(_mm512_loadu_si512(q + 2 * kRows));
        UNROLL for (int i = 0; i < kSide; ++i) {
            const __m512bh both = pair_at(k + i * dim + d);
            acc[i][0] = _mm512_dpbf16_ps(acc[i][0], first, both);
            acc[i][1] = _mm512_dpbf16_ps(acc[i][1], second, both);
        }
    }
    UNROLL for (int i = 0; i < kSide; ++i)
        UNROLL for (int r = 0; r < 2; ++r) {
            const __m512 score = i < valid ? acc[i][r] : _mm512_set1_ps(kHidden);
            _mm512_storeu_ps(scores + (2 * i + r) * kRows, score);
            top[r] = _mm512_max_ps(score, top[r]);  // passes over NaN, which comes back as an exponential
        }
}

// Shrinks eight dimensions of the sums, [8][32], and adds the values of `count` keys times what scores became.
template <int Dim>
INLINE void eight_sums(const float* shares, int64_t count, const uint16_t* v, int64_t any_dim, const __m512 (&shrink)[2], float* sums) {
    const int64_t dim = Dim ? Dim : any_dim;
    __m512 acc[kSide][2];
    UNROLL for (int i = 0; i < kSide; ++i)
        UNROLL for (int r = 0; r < 2; ++r) acc[i][r] = _mm512_mul_ps(_mm512_loadu_ps(sums + (2 * i + r) * kRows), shrink[r]);
    for (int64_t t = 0; t < count; t += 2, shares += 2 * kRows, v += 2 * dim) {
        const __m512bh first = as_bf16(_mm512_loadu_si512(shares)), second = as_bf16(_mm512_loadu_si512(shares + kRows));
        UNROLL for (int i = 0; i < kSide; ++i) {
            const __m512bh both = pair_at(v + 2 * i);
            acc[i][0] = _mm512_dpbf16_ps(acc[i][0], first, both);
            acc[i][1] = _mm512_dpbf16_ps(acc[i][1], second, both);
        }
    }
    UNROLL for (int i = 0; i < kSide; ++i)
        UNROLL for (int r = 0; r < 2; ++r) _mm512_storeu_ps(sums + (2 * i + r) * kRows, acc[i][r]);
}

template <int Dim>
void attend_to(const EncoderHead& a, float* scratch) {
    const int64_t dim = Dim ? Dim : a.dim;
    uint16_t* q = reinterpret_cast<uint16_t*>(scratch);  // [dim / 2][32][2]
    float *sums = scratch + dim * kRows, *scores = sums + 2 * dim * kRows;  // [dim][32], [64][32]
    const float scale = a.scale * kLog2E;
    for (int64_t d = 0; d < dim; ++d)
        for (int64_t i = 0; i < kEncoderQueries; ++i)
            q[d / 2 * 4 * kRows + 2 * i + d % 2] = i < a.queries ? to_bf16(a.q[i * a.q_token + d] * scale) : uint16_t{0};
    std::fill_n(sums, 2 * dim * kRows, 0.0f);
    __m512 top[2], total[2];
    top[0] = top[1] = _mm512_set1_ps(kHidden);
    total[0] = total[1] = _mm512_setzero_ps();
    for (int64_t first = 0; first < a.keys; first += kKeys) {
        const int64_t count = std::min(kKeys, a.keys - first), padded = encoder_keys(count);
        __m512 best[2] = {top[0], top[1]}, shrink[2];
        for (int64_t t = 0; t < padded; t += kSide)
            eight_scores<Dim>(q, dim, a.k + (first + t) * dim, count - t, scores + 2 * t * kRows, best);
        for (int r = 0; r < 2; ++r) {
            shrink[r] = power_of_two(_mm512_sub_ps(top[r], best[r]));
            total[r] = _mm512_mul_ps(total[r], shrink[r]);
            top[r] = best[r];
        }
        // in place: a pair of keys takes the room of one
        for (int64_t t = 0; t < padded; t += 2)
            for (int r = 0; r < 2; ++r) {
                const __m512 low = power_of_two(_mm512_sub_ps(_mm512_loadu_ps(scores + (2 * t + r) * kRows), top[r]));
                const __m512 high = power_of_two(_mm512_sub_ps(_mm512_loadu_ps(scores + (2 * t + 2 + r) * kRows), top[r]));
                total[r] = _mm512_add_ps(total[r], _mm512_add_ps(low, high));
                _mm512_storeu_si512(scores + (t + r) * kRows, paired(low, high));
            }
        for (int64_t d = 0; d < dim; d += kSide)
            eight_sums<Dim>(scores, padded, a.v + first * dim + 2 * d, dim, shrink, sums + 2 * d * kRows);
    }
    float share[kEncoderQueries];
    for (int r = 0; r < 2; ++r) _mm512_storeu_ps(share + r * kRows, _mm512_div_ps(_mm512_set1_ps(1.0f), total[r]));
    for (int64_t i = 0; i < a.queries; ++i)
        for (int64_t d = 0; d < dim; ++d) a.out[i * a.out_token + d] = sums[2 * d * kRows + i] * share[i];
}

void attend(const EncoderHead& a, float* scratch) { a.dim == 64 ? attend_to<64>(a, scratch) : attend_to<0>(a, scratch); }

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const Bf16EncoderKernels* bf16_encoder_avx512() {
    static const Bf16EncoderKernels kernels{bring, attend};
    return &kernels;
}
}  // namespace grus
#else
namespace grus {
const Bf16EncoderKernels* bf16_encoder_avx512() { return nullptr; }
}  // namespace grus
#endif
