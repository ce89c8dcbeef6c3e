// Which tiers this machine runs, and which is in use.
#pragma once
#include "arch/tier.hpp"

namespace grus {
enum class Choice : int32_t { Scalar, Avx2, AvxVnni, Avx512, Neon, Amx, I8mm, Count };
const Tier* tier_if_supported(Choice choice);  // null: not in this build, or not on this CPU
Choice best_choice();
const Tier& current_tier();  // the best, or what grus_use_tier chose
}  // namespace grus
