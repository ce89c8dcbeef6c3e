// The NEON tier, with the byte dot product: ARM servers since Neoverse N1, Apple since M1, phones and boards since Cortex-A75.
#include "arch/tier.hpp"

#if defined(__aarch64__) && !defined(_MSC_VER)
#include <arm_neon.h>

#include <cmath>
#include <utility>

#include "common/compiler.hpp"
#include "common/half_float.hpp"

#if defined(__clang__)
TARGET_BEGIN("dotprod")
#else
TARGET_BEGIN("arch=armv8.2-a+dotprod")
#endif
namespace grus {
namespace {

constexpr int kTile = 4;
constexpr int kPositions = 6, kPanels = 1;
constexpr int kSignedBias = 0;

#include "arch/neon/lanes_neon.inl"
#include "arch/plain_memory.inl"
#include "arch/make_tier.inl"

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const Tier* neon_tier() {
    static const Tier tier = make_tier("neon");
    return &tier;
}
}  // namespace grus
#else
namespace grus {
const Tier* neon_tier() { return nullptr; }
}  // namespace grus
#endif
