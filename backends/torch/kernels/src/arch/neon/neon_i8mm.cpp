// ARM i8mm: quantized weights times several tokens. Neoverse V1 and N2, Apple since M2. One instruction multiplies two rows by two
// tokens, eight columns each, which is twice the rate of the dot product. Sums are integers, so the results have the same bits.
#include "arch/tier.hpp"

#if defined(__aarch64__) && !defined(_MSC_VER)
#include <arm_neon.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "common/compiler.hpp"
#include "common/half_float.hpp"

#if defined(__clang__)
TARGET_BEGIN("dotprod,i8mm")
#else
TARGET_BEGIN("arch=armv8.2-a+dotprod+i8mm")
#endif
namespace grus {
namespace {

#include "arch/neon/lanes_neon.inl"
#include "formats/block_reader.inl"

// Two quads of four rows become eight columns of two rows each.
INLINE int8x16_t first_rows(uint8x16_t left, uint8x16_t right) {
    return vreinterpretq_s8_u32(vzip1q_u32(vreinterpretq_u32_u8(left), vreinterpretq_u32_u8(right)));
}
INLINE int8x16_t last_rows(uint8x16_t left, uint8x16_t right) {
    return vreinterpretq_s8_u32(vzip2q_u32(vreinterpretq_u32_u8(left), vreinterpretq_u32_u8(right)));
}

// Sums of two tokens: [row, row + 1] times [token, token + 1], of the first two rows of each four and of the last two.
struct TwoByTwo { int32x4_t first[4], last[4]; };

INLINE Ints of_token(const TwoByTwo& all, int which, const int32_t* start) {
    const int32x4_t begin = vld1q_dup_s32(start);
    Ints r;
    for (int i = 0; i < 4; ++i) {
        const int32x4_t mine = which ? vuzp2q_s32(all.first[i], all.last[i]) : vuzp1q_s32(all.first[i], all.last[i]);
        r.v[i] = vaddq_s32(mine, begin);
    }
    return r;
}

// As `quantized_panels` in tile.inl for one panel, scaled in the same order.
template <Code C, int Halves, bool Minima, int N, bool Stored>
void mmla_tile(const Tile& in) {
    using R = Reader<C>;
    constexpr int pairs = 8 / Halves / 2;  // of quads
    Floats acc[N];
    for (int t = 0; t < N; ++t) acc[t] = zeros();
    const uint8_t* codes = in.codes;
    const int8_t* a = in.act.codes;
    const float* notes = in.act.notes;
    Scales<Halves, Minima, Stored, C == Code::L4> scales{};
    scales.begin(in.scales, in.panel, in.layout);
    constexpr int words = notes_per_block(Halves);
    for (int64_t b = 0; b < in.blocks; ++b) {
        unrolled<Halves>([&](auto half) INLINE_LAMBDA {
            constexpr int h = decltype(half)::value;
            TwoByTwo total[N / 2] = {};
            unrolled<pairs>([&](auto turn) INLINE_LAMBDA {
                constexpr int g = 2 * (h * pairs + decltype(turn)::value);
                const Bytes left = R::template get<g>(in, codes), right = R::template get<g + 1>(in, codes);
                for (int p = 0; p < N / 2; ++p) {
                    const int8_t* x = a + 64 * p + 4 * g;
                    const int8x16_t two = vcombine_s8(vld1_s8(x), vld1_s8(x + 32));
                    for (int i = 0; i < 4; ++i) {
                        total[p].first[i] = vmmlaq_s32(total[p].first[i], first_rows(left.v[i], right.v[i]), two);
                        total[p].last[i] = vmmlaq_s32(total[p].last[i], last_rows(left.v[i], right.v[i]), two);
                    }
                }
            });
            const int32_t* start = reinterpret_cast<const int32_t*>(notes) + 1 + h;
            Floats ws, wm;
            scales.take(b, h, ws, wm);
            for (int t = 0; t < N; ++t) {
                const Floats sums = to_floats(of_token(total[t / 2], t % 2, start + words * t));
                acc[t] = fma(sums, mul(ws, broadcast(notes + words * t)), acc[t]);
            }
            if constexpr (Minima)
                for (int t = 0; t < N; ++t) acc[t] = fma(wm, broadcast(notes + words * t + 1 + Halves + h), acc[t]);
        });
        codes += code_bytes(C);
        a += 32 * N;
        notes += words * N;
    }
    for (int t = 0; t < N; ++t) store(in.out + kRows * t, acc[t]);
}

template <Code C, int Halves, bool Minima, bool Stored>
void fill_as(TileKernel (&row)[kWidths]) {
    row[1] = mmla_tile<C, Halves, Minima, 2, Stored>;
    row[3] = mmla_tile<C, Halves, Minima, 4, Stored>;
}

template <Code C, int Halves, bool Minima, bool Stored>
void fill(Tier& tier) {
    fill_as<C, Halves, Minima, false>(tier.kernels[static_cast<int>(C)][Halves - 1][Minima]);
    if constexpr (Stored) fill_as<C, Halves, Minima, true>(tier.stored_kernels[static_cast<int>(C)][Halves - 1][Minima]);
}

#include "arch/quantized_variants.inl"

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
void use_i8mm(Tier& neon) { fill_quantized(neon); }
}  // namespace grus
#else
namespace grus {
void use_i8mm(Tier&) {}
}  // namespace grus
#endif
