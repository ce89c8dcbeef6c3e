// The AVX-VNNI tier: AVX2 with the byte dot product in 256-bit registers. Intel's client CPUs since Alder Lake, AMD since Zen 5.
// With GRUS_AVXVNNI_AS_AVX512 the instruction is encoded as in AVX-512, so that a CPU with only that encoding can test this tier.
#include "arch/tier.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>

#include <cmath>
#include <utility>

#include "common/compiler.hpp"
#include "common/half_float.hpp"

#if defined(GRUS_AVXVNNI_AS_AVX512)
#define DPBUSD _mm256_dpbusd_epi32
TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512vl,avx512vnni")
#else
#define DPBUSD _mm256_dpbusd_avx_epi32
TARGET_BEGIN("avx2,fma,f16c,avxvnni")
#endif
namespace grus {
namespace {

constexpr int kTile = 4;
constexpr int kPositions = 6, kPanels = 1;
constexpr int kSignedBias = 128;

#include "arch/avx2/lanes256.inl"

INLINE Bytes signed_codes(Bytes v) {  // + 128, which makes them unsigned; `start` takes it back
    __m256i top = _mm256_set1_epi8(-128);
    return {_mm256_xor_si256(v.a, top), _mm256_xor_si256(v.b, top)};
}
template <bool Signed, int N>
INLINE Ints dot(Ints total, const Bytes (&w)[N], const int8_t* a) {
    for (int g = 0; g < N; ++g) {
        __m256i four = quad(a + 4 * g);
        total = {DPBUSD(total.a, w[g].a, four), DPBUSD(total.b, w[g].b, four)};
    }
    return total;
}

#include "arch/plain_memory.inl"
#include "arch/make_tier.inl"

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const Tier* avxvnni_tier() {
    static const Tier tier = make_tier("avxvnni");
    return &tier;
}
}  // namespace grus
#else
namespace grus {
const Tier* avxvnni_tier() { return nullptr; }
}  // namespace grus
#endif
