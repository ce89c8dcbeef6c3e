// Compiler differences: inlining, prefetching, and regions that are compiled for a newer CPU. All files are compiled with the same
// flags, so only code inside a TARGET region may use instructions that the build machine's baseline lacks.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define INLINE __forceinline
#define UNROLL
#define PREFETCH(at) _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T0)
#define PREFETCH_FAR(at) _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T1)  // into the second-level cache
#define INLINE_LAMBDA [[msvc::forceinline]]
#define TARGET_BEGIN(features)
#define TARGET_END
#else
#define UNROLL _Pragma("GCC unroll 16")
#define PREFETCH(at) __builtin_prefetch(at)
#define PREFETCH_FAR(at) __builtin_prefetch(at, 0, 2)
#define INLINE inline __attribute__((always_inline))
#define INLINE_LAMBDA __attribute__((always_inline))
#define GRUS_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TARGET_BEGIN(features) \
    GRUS_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define TARGET_END _Pragma("clang attribute pop")
#else
#define TARGET_BEGIN(features) _Pragma("GCC push_options") GRUS_PRAGMA(GCC target(features))
#define TARGET_END _Pragma("GCC pop_options")
#endif
#endif
