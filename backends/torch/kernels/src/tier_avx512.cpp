// AVX-512 with VNNI: Intel's servers since Cascade Lake, AMD since Zen 4. Sixteen lanes are one register.
#include "tier.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>

#include <cmath>
#include <utility>

#include "halves.hpp"
#include "target.hpp"

TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
namespace grus {
namespace {

constexpr int kTile = 8;
constexpr int kPositions = 12, kPanels = 2;
constexpr int kSignedBias = 128;

#include "lanes512.inl"
#include "tile.inl"
#include "kept.inl"
#include "twelve.inl"
#include "fused.inl"
#include "attend.inl"
#include "conv.inl"
#include "points.inl"
#include "all.inl"

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const Tier* avx512_tier() {
    static const Tier tier = make_tier("avx512");
    return &tier;
}
}  // namespace grus
#else
namespace grus {
const Tier* avx512_tier() { return nullptr; }
}  // namespace grus
#endif
