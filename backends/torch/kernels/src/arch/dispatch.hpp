// Which tiers this CPU supports, and which one is in use.
#pragma once
#include "arch/tier.hpp"

namespace grus {
enum class TierId : int32_t { Scalar, Avx2, AvxVnni, Avx512, Neon, Amx, I8mm, Count };
const Tier* tier_if_supported(TierId choice);  // null: not in this build, or not on this CPU
TierId best_tier();
const Tier& current_tier();  // the best, or what grus_use_tier chose
}  // namespace grus
