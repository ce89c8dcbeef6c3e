// ARM BF16: rows of bf16 weights times bf16 activations, on the CPUs that also have i8mm.
#include "arch/tier.hpp"

#if defined(__aarch64__) && !defined(_MSC_VER)
#include <arm_neon.h>

#include <algorithm>
#include <cstring>

#include "common/compiler.hpp"

#if defined(__clang__)
TARGET_BEGIN("bf16")
#else
TARGET_BEGIN("arch=armv8.2-a+bf16")
#endif
namespace grus {
namespace {

constexpr int kLanes = 8;

INLINE bfloat16x8_t load(const uint16_t* from) { return vreinterpretq_bf16_u16(vld1q_u16(from)); }

void round_row(const float* x, int64_t columns, uint16_t* to) {
    for (int64_t c = 0; c < (columns + kBlock - 1) / kBlock * kBlock; c += 4) {
        float some[4] = {};
        if (c < columns) std::memcpy(some, x + c, static_cast<size_t>(std::min<int64_t>(4, columns - c)) * 4);
        vst1_u16(to + c, vreinterpret_u16_bf16(vcvt_bf16_f32(vld1q_f32(some))));
    }
}

// `R` rows from `first` times all `N` tokens.
template <int R, int N>
INLINE void some_rows(const Rows& in, int64_t first) {
    constexpr int chains = R * N >= 4 ? 1 : 4 / (R * N);  // so that one sum need not wait for the last
    const int64_t whole = in.columns / kLanes * kLanes;
    const uint16_t* w[R];
    float32x4_t acc[R][N][chains];
    for (int r = 0; r < R; ++r) {
        w[r] = reinterpret_cast<const uint16_t*>(in.data + (first + r) * in.row_bytes);
        for (int t = 0; t < N; ++t)
            for (auto& sum : acc[r][t]) sum = vdupq_n_f32(0.0f);
    }
    auto multiply = [&](const bfloat16x8_t (&ws)[R], int64_t c, int chain) INLINE_LAMBDA {
        for (int t = 0; t < N; ++t) {
            const bfloat16x8_t xs = load(in.x16 + t * in.x_token + c);
            for (int r = 0; r < R; ++r) acc[r][t][chain] = vbfdotq_f32(acc[r][t][chain], ws[r], xs);
        }
    };
    auto step = [&](int64_t c, int chain) INLINE_LAMBDA {
        bfloat16x8_t ws[R];
        for (int r = 0; r < R; ++r) ws[r] = load(w[r] + c);
        multiply(ws, c, chain);
    };
    int64_t c = 0;
    for (; c + chains * kLanes <= whole; c += chains * kLanes)
        for (int i = 0; i < chains; ++i) step(c + i * kLanes, i);
    for (; c < whole; c += kLanes) step(c, 0);
    if (c < in.columns) {
        bfloat16x8_t ws[R];
        for (int r = 0; r < R; ++r) {
            uint16_t rest[kLanes] = {};
            std::memcpy(rest, w[r] + c, static_cast<size_t>(in.columns - c) * 2);
            ws[r] = load(rest);
        }
        multiply(ws, c, 0);
    }
    for (int r = 0; r < R; ++r)
        for (int t = 0; t < N; ++t) {
            for (int i = 1; i < chains; ++i) acc[r][t][0] = vaddq_f32(acc[r][t][0], acc[r][t][i]);
            in.out[t * kRows + first + r] = vaddvq_f32(acc[r][t][0]);
        }
}

template <int N>
void rows_tile(const Rows& in) {
    int64_t r = 0;
    if (!in.streamed)  // from a cache each load serves several products; from memory, rows are read in order
        for (; r + 4 <= in.rows; r += 4) some_rows<4, N>(in, r);
    for (; r < in.rows; ++r) some_rows<1, N>(in, r);
}

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const Bf16Kernels* bf16_neon() {
    static const Bf16Kernels kernels{round_row, {rows_tile<1>, rows_tile<2>, nullptr, rows_tile<4>}, {}, nullptr};
    return &kernels;
}
}  // namespace grus
#else
namespace grus {
const Bf16Kernels* bf16_neon() { return nullptr; }
}  // namespace grus
#endif
