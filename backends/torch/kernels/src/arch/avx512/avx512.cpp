// The AVX-512 VNNI tier: Intel's servers since Cascade Lake, AMD since Zen 4. Sixteen lanes are one register.
#include "arch/tier.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>

#include <array>
#include <cmath>
#include <utility>

#include "common/compiler.hpp"
#include "common/half_float.hpp"

TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
namespace grus {
namespace {

constexpr int kTile = 8;
constexpr int kPositions = 12, kPanels = 2;
constexpr int kSignedBias = 128;

#include "arch/avx512/lanes512.inl"
#include "arch/make_tier.inl"
#include "arch/avx512/code_attention.inl"

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const Tier* avx512_tier() {
    static const Tier tier = [] {
        Tier made = make_tier("avx512");
        made.decode_attention = decode_attention_to_codes;
        return made;
    }();
    return &tier;
}
}  // namespace grus
#else
namespace grus {
const Tier* avx512_tier() { return nullptr; }
}  // namespace grus
#endif
