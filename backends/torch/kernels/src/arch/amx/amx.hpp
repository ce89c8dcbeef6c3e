// Whether this build includes the AMX code (Intel's matrix unit), and the target string that all AMX files share.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && !defined(GRUS_NO_AMX)
#if __has_include(<amxtileintrin.h>) || __has_include(<amxintrin.h>)  // GCC's and Clang's name
#define GRUS_AMX
#endif
#endif

#if defined(GRUS_AMX)
#define GRUS_AMX_TARGET \
    "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,amx-tile,amx-int8,amx-bf16"
#endif
