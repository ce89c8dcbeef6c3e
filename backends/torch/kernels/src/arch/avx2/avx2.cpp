// The AVX2 tier, with FMA and F16C: every x86 server and nearly every laptop since 2015.
#include "arch/tier.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>

#include <cmath>
#include <utility>

#include "common/compiler.hpp"
#include "common/half_float.hpp"

TARGET_BEGIN("avx2,fma,f16c")
namespace grus {
namespace {

constexpr int kTile = 4;
constexpr int kPositions = 6, kPanels = 1;
constexpr int kSignedBias = 0;

#include "arch/avx2/lanes256.inl"

INLINE Bytes signed_codes(Bytes v) { return v; }

// maddubs multiplies unsigned by signed bytes and adds pairs, saturating at 16 bits: the codes' widths (see `run`) keep all
// sums below that. Signed codes go in as magnitudes, with their signs moved to the activations; -128 stays exact so.
template <bool Signed, int N>
INLINE __m256i dot256(__m256i total, const __m256i (&w)[N], const int8_t* a) {
    __m256i pairs;
    if constexpr (Signed) {
        static_assert(N == 1);
        pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w[0]), _mm256_sign_epi8(quad(a), w[0]));
    } else {
        pairs = _mm256_maddubs_epi16(w[0], quad(a));
        for (int g = 1; g < N; ++g) pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(w[g], quad(a + 4 * g)));
    }
    return _mm256_add_epi32(total, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
template <bool Signed, int N>
INLINE Ints dot(Ints total, const Bytes (&w)[N], const int8_t* a) {
    __m256i first[N], second[N];
    for (int g = 0; g < N; ++g) {
        first[g] = w[g].a;
        second[g] = w[g].b;
    }
    return {dot256<Signed>(total.a, first, a), dot256<Signed>(total.b, second, a)};
}

#include "arch/plain_memory.inl"
#include "arch/make_tier.inl"

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const Tier* avx2_tier() {
    static const Tier tier = make_tier("avx2");
    return &tier;
}
}  // namespace grus
#else
namespace grus {
const Tier* avx2_tier() { return nullptr; }
}  // namespace grus
#endif
