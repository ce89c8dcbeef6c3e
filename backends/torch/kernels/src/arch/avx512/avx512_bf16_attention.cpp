// Attention of an encoder whose products are quantized, in pairs of bf16: AMD since Zen 4, which multiplies these more than twice as fast as
// f32. What is rounded are queries, keys, values and the shares of a softmax; sums and the softmax itself are f32.
#include "arch/tier.hpp"

#if (defined(__x86_64__) || defined(_M_X64)) && !defined(GRUS_NO_AVX512_BF16)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "common/compiler.hpp"

TARGET_BEGIN("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace grus {
namespace {

constexpr int kSums = 16;              // side by side, so that none waits for the last
constexpr int64_t kKeys = kBf16Keys;   // of a tile, whose scores stay in the nearest cache
constexpr float kHidden = -1e30f;      // finite: what is hidden must not look like what is broken

INLINE __m512bh as_bf16(__m512i v) {
    __m512bh r;
    static_assert(sizeof r == sizeof v);
    __builtin_memcpy(&r, &v, sizeof r);
    return r;
}

// Both rounded, in turns: x0, y0, x1, y1, ...
INLINE __m512i in_turns(__m512 x, __m512 y) {
    const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18,
                                           2, 17, 1, 16, 0);
    const __m512bh both = _mm512_cvtne2ps_pbh(y, x);
    __m512i bits;
    __builtin_memcpy(&bits, &both, sizeof bits);
    return _mm512_permutexvar_epi16(order, bits);
}

// 2 to the power of x, to within 1e-4 of it, which is a twentieth of what rounding it to bf16 costs.
INLINE __m512 power_of_two(__m512 x) {
    const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), part = _mm512_sub_ps(x, whole);
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(5.517043e-2f), part, _mm512_set1_ps(2.4260938e-1f));
    p = _mm512_fmadd_ps(p, part, _mm512_set1_ps(6.9326102e-1f));
    p = _mm512_fmadd_ps(p, part, _mm512_set1_ps(9.9992819e-1f));
    return _mm512_scalef_ps(p, whole);
}

void bring(const float* k, const float* v, int64_t stride, int64_t tokens, int64_t dim, uint16_t* k16, uint16_t* v16) {
    const int64_t padded = rounded(tokens, kSums);
    for (int64_t t = 0; t < tokens; t += 2) {
        const bool two = t + 1 < tokens;
        for (int64_t d = 0; d < dim; d += 16) {
            const __mmask16 some = dim - d >= 16 ? 0xffff : static_cast<__mmask16>((1u << (dim - d)) - 1);
            const __m512 first = _mm512_maskz_loadu_ps(some, v + t * stride + d);
            const __m512 second = two ? _mm512_maskz_loadu_ps(some, v + (t + 1) * stride + d) : _mm512_setzero_ps();
            _mm512_mask_storeu_epi32(v16 + t * dim + 2 * d, some, in_turns(first, second));
        }
    }
    for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t d = 0; d < dim; d += 16) {
            const __mmask16 some = dim - d >= 16 ? 0xffff : static_cast<__mmask16>((1u << (dim - d)) - 1);
            const __m256bh half = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(some, k + t * stride + d));
            __m256i bits;
            __builtin_memcpy(&bits, &half, sizeof bits);
            _mm256_mask_storeu_epi16(k16 + t * dim + d, some, bits);
        }
    }
    std::fill(k16 + tokens * dim, k16 + padded * dim, static_cast<uint16_t>(0));
    std::fill(v16 + rounded(tokens, 2) * dim, v16 + padded * dim, static_cast<uint16_t>(0));
}

INLINE __m512bh pair_for_all(const uint16_t* from) {
    int32_t pair;
    __builtin_memcpy(&pair, from, 4);
    return as_bf16(_mm512_set1_epi32(pair));
}

// Scores of sixteen keys with all queries.
INLINE void some_scores(const uint16_t* q, const uint16_t* k, int64_t dim, float* scores) {
    __m512 sums[kSums];
    UNROLL for (int i = 0; i < kSums; ++i) sums[i] = _mm512_setzero_ps();
    for (int64_t d = 0; d < dim; d += 2, q += 2 * kRows) {
        const __m512bh queries = as_bf16(_mm512_loadu_si512(q));
        UNROLL for (int i = 0; i < kSums; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], queries, pair_for_all(k + i * dim + d));
    }
    UNROLL for (int i = 0; i < kSums; ++i) _mm512_storeu_ps(scores + i * kRows, sums[i]);
}

// Of the keys first .. first + count those that a query does not see.
void hide(const Bf16Block& a, int64_t first, int64_t count, float* scores) {
    const __m512 hidden = _mm512_set1_ps(kHidden);
    for (int64_t t = std::max<int64_t>(a.end - first, 0); t < count; ++t) _mm512_storeu_ps(scores + t * kRows, hidden);
    for (int64_t i = 0; i < a.queries; ++i) {
        const int64_t behind = a.past + i + 1 + a.ahead - first, before = (a.window ? a.past + i + 1 - a.window : 0) - first;
        for (int64_t t = std::max<int64_t>(behind, 0); t < count; ++t) scores[t * kRows + i] = kHidden;
        for (int64_t t = 0; t < std::min(before, count); ++t) scores[t * kRows + i] = kHidden;
    }
}

// The softmax as far as it has come, of each query.
struct Running { __m512 top, total; };

// Powers of two of the scores less their largest, in pairs of keys; returns what they make of all sums before them.
INLINE __m512 shares_of(const float* scores, int64_t count, uint16_t* shares, Running& r) {
    __m512 top = r.top;
    for (int64_t t = 0; t < count; ++t) top = _mm512_max_ps(_mm512_loadu_ps(scores + t * kRows), top);
    const __m512 shrink = power_of_two(_mm512_sub_ps(r.top, top));
    __m512 even = _mm512_mul_ps(r.total, shrink), odd = _mm512_setzero_ps();
    for (int64_t t = 0; t < count; t += 2) {
        const __m512 one = power_of_two(_mm512_sub_ps(_mm512_loadu_ps(scores + t * kRows), top));
        const __m512 other = power_of_two(_mm512_sub_ps(_mm512_loadu_ps(scores + (t + 1) * kRows), top));
        even = _mm512_add_ps(even, one);
        odd = _mm512_add_ps(odd, other);
        _mm512_storeu_si512(shares + t * kRows, in_turns(one, other));
    }
    r = {top, _mm512_add_ps(even, odd)};
    return shrink;
}

// The first of the sixteen numbers of a value that are the `at`th sums: of the last ones some may be computed twice.
INLINE int64_t sums_from(int64_t at, int64_t dim) { return std::min<int64_t>(at * kSums, dim - kSums); }

void add_values(const uint16_t* shares, const uint16_t* v, int64_t dim, int64_t count, __m512 shrink, float* sums) {
    for (int64_t at = 0; at * kSums < dim; ++at, sums += kSums * kRows) {
        __m512 acc[kSums];
        UNROLL for (int i = 0; i < kSums; ++i) acc[i] = _mm512_mul_ps(_mm512_loadu_ps(sums + i * kRows), shrink);
        const uint16_t* value = v + 2 * sums_from(at, dim);
        for (int64_t t = 0; t < count; t += 2, value += 2 * dim) {
            const __m512bh share = as_bf16(_mm512_loadu_si512(shares + t * kRows));
            UNROLL for (int i = 0; i < kSums; ++i) acc[i] = _mm512_dpbf16_ps(acc[i], share, pair_for_all(value + 2 * i));
        }
        UNROLL for (int i = 0; i < kSums; ++i) _mm512_storeu_ps(sums + i * kRows, acc[i]);
    }
}

// Queries in pairs of numbers, [dim / 2][16][2], so that scores are exponents of two.
void bring_queries(const Bf16Block& a, uint16_t* q) {
    constexpr float kLog2OfE = 1.44269504f;
    const __m512 scale = _mm512_set1_ps(a.scale * kLog2OfE);
    for (int64_t d = 0; d < a.dim; d += 32) {
        const int64_t left = a.dim - d, pairs = std::min<int64_t>(left, 32) / 2;
        const __mmask16 low = left >= 16 ? 0xffff : static_cast<__mmask16>((1u << left) - 1);
        const __mmask16 high = left >= 32 ? 0xffff : left > 16 ? static_cast<__mmask16>((1u << (left - 16)) - 1) : 0;
        alignas(64) uint32_t rows[kRows][kRows] = {};
        for (int64_t i = 0; i < a.queries; ++i) {
            const float* from = a.q + i * a.q_token + d;
            const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_mul_ps(_mm512_maskz_loadu_ps(high, from + 16), scale),
                                                      _mm512_mul_ps(_mm512_maskz_loadu_ps(low, from), scale));
            __builtin_memcpy(rows[i], &both, sizeof both);
        }
        uint32_t* to = reinterpret_cast<uint32_t*>(q + d * kRows);
        for (int64_t p = 0; p < pairs; ++p)
            for (int i = 0; i < kRows; ++i) to[p * kRows + i] = rows[i][p];
    }
}

void attend(const Bf16Block& a, float* scratch) {
    const int64_t sums_each = rounded(a.dim, kSums) * kRows;
    float *sums = scratch, *scores = sums + sums_each;
    uint16_t* q = reinterpret_cast<uint16_t*>(scores + kKeys * kRows);
    uint16_t* shares = q + a.dim * kRows;
    bring_queries(a, q);
    std::fill_n(sums, sums_each, 0.0f);
    Running running{_mm512_set1_ps(kHidden), _mm512_setzero_ps()};
    const int64_t low = (a.window && a.past + 1 > a.window ? a.past + 1 - a.window : 0) / kSums * kSums;
    const int64_t high = std::min(a.end, a.past + a.queries + a.ahead);
    for (int64_t first = low; first < high; first += kKeys) {
        const int64_t count = rounded(std::min(high - first, kKeys), kSums);
        for (int64_t t = 0; t < count; t += kSums) some_scores(q, a.k + (first + t) * a.dim, a.dim, scores + t * kRows);
        const bool all_seen = first + count <= std::min(a.end, a.past + 1 + a.ahead) && (!a.window || first >= a.past + a.queries - a.window);
        if (!all_seen) hide(a, first, count, scores);
        const __m512 shrink = shares_of(scores, count, shares, running);
        add_values(shares, a.v + first * a.dim, a.dim, count, shrink, sums);
    }
    const __m512 share = _mm512_div_ps(_mm512_set1_ps(1.0f), running.total);
    float* of = sums;
    for (int64_t at = 0; at * kSums < a.dim; ++at, of += kSums * kRows) {
        for (int i = 0; i < kSums; ++i) _mm512_storeu_ps(of + i * kRows, _mm512_mul_ps(_mm512_loadu_ps(of + i * kRows), share));
        float* out = a.out + sums_from(at, a.dim);
        for (int64_t j = 0; j < a.queries; ++j)
            for (int i = 0; i < kSums; ++i) out[j * a.out_token + i] = of[i * kRows + j];
    }
}

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const Bf16Attention* bf16_attention_avx512() {
    static const Bf16Attention kernels{bring, attend};
    return &kernels;
}
}  // namespace grus
#else
namespace grus {
const Bf16Attention* bf16_attention_avx512() { return nullptr; }
}  // namespace grus
#endif
