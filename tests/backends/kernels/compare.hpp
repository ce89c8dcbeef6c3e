// What the programs that compare tiers share: random numbers, always the same, and counts of what was compared and what differed.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>

inline uint64_t state = 1;
inline uint32_t bits() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state >> 33);
}
inline float uniform() { return static_cast<float>(bits()) / 1073741824.0f - 1.0f; }

// Exactly as many bytes as are needed, so that a sanitizer sees a step over the edge.
template <class T>
std::unique_ptr<T[]> fill(int64_t n, T (*make)()) {
    std::unique_ptr<T[]> made(new T[static_cast<size_t>(n)]);
    for (int64_t i = 0; i < n; ++i) made[i] = make();
    return made;
}

inline int failures = 0;

extern "C" int32_t grus_use_tier(int32_t);
inline int comparisons[16] = {};  // of each tier, so that a program that compares nothing is not taken for one that passes

// Makes this tier the one that is compared next. False where this CPU does not run it.
inline bool select_tier(int tier) {
    if (!grus_use_tier(tier)) return false;
    ++comparisons[tier];
    return true;
}

void compare_streams();  // convolutions, and what is drawn from rows
void compare_frames();
void compare_shortlists();
void compare_mixtures();
void compare_programs();
