// Vector types for the ARM tiers: sixteen lanes are four registers.

struct Ints { int32x4_t v[4]; };
struct Floats { float32x4_t v[4]; };
struct Bytes { uint8x16_t v[4]; };

INLINE Bytes load(const uint8_t* from) { return {vld1q_u8(from), vld1q_u8(from + 16), vld1q_u8(from + 32), vld1q_u8(from + 48)}; }
template <int Right, int Mask>
INLINE Bytes shift_and_mask(Bytes b) {
    for (auto& v : b.v) {
        if constexpr (Right > 0) v = vshrq_n_u8(v, Right);
        if constexpr (Right < 0) v = vshlq_n_u8(v, -Right);
        v = vandq_u8(v, vdupq_n_u8(Mask));
    }
    return b;
}
INLINE Bytes either(Bytes a, Bytes b) {
    for (int i = 0; i < 4; ++i) a.v[i] = vorrq_u8(a.v[i], b.v[i]);
    return a;
}
INLINE Bytes signed_codes(Bytes b) { return b; }
INLINE Bytes lookup(const int8_t* values, Bytes b) {
    uint8x16_t table = vreinterpretq_u8_s8(vld1q_s8(values));
    for (auto& v : b.v) v = vqtbl1q_u8(table, v);
    return b;
}
// The bytes of `low` and `high` in turn, 128 of them; see `bf12_position` for their order.
INLINE void store_pairs(uint16_t* to, Bytes low, Bytes high) {
    for (int i = 0; i < 4; ++i) {
        vst1q_u8(reinterpret_cast<uint8_t*>(to + 8 * i), vzip1q_u8(low.v[i], high.v[i]));
        vst1q_u8(reinterpret_cast<uint8_t*>(to + 32 + 8 * i), vzip2q_u8(low.v[i], high.v[i]));
    }
}
INLINE Ints broadcast_int(const int32_t* from) {
    int32x4_t v = vld1q_dup_s32(from);
    return {v, v, v, v};
}
template <bool Signed, int N>
INLINE Ints dot(Ints total, const Bytes (&w)[N], const int8_t* a) {  // unsigned codes are below 64, so signed ones too
    for (int g = 0; g < N; ++g) {
        int32_t four;
        std::memcpy(&four, a + 4 * g, 4);
        int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(four));
        for (int i = 0; i < 4; ++i) total.v[i] = vdotq_s32(total.v[i], vreinterpretq_s8_u8(w[g].v[i]), x);
    }
    return total;
}
template <class F>
INLINE Floats each(F&& f) { return {f(0), f(1), f(2), f(3)}; }
INLINE Floats zeros() { return each([](int) INLINE_LAMBDA { return vdupq_n_f32(0.0f); }); }
INLINE Floats to_floats(Ints x) { return each([&](int i) INLINE_LAMBDA { return vcvtq_f32_s32(x.v[i]); }); }
INLINE Floats broadcast(const float* from) {
    float32x4_t v = vld1q_dup_f32(from);
    return {v, v, v, v};
}
INLINE Floats fma(Floats x, Floats y, Floats z) {
    return each([&](int i) INLINE_LAMBDA { return vfmaq_f32(z.v[i], x.v[i], y.v[i]); });
}
INLINE Floats mul(Floats x, Floats y) { return each([&](int i) INLINE_LAMBDA { return vmulq_f32(x.v[i], y.v[i]); }); }
INLINE Floats add(Floats x, Floats y) { return each([&](int i) INLINE_LAMBDA { return vaddq_f32(x.v[i], y.v[i]); }); }
INLINE Floats divide(Floats x, Floats y) { return each([&](int i) INLINE_LAMBDA { return vdivq_f32(x.v[i], y.v[i]); }); }
// NaN of `x` passes.
INLINE Floats at_most(Floats x, Floats y) { return each([&](int i) INLINE_LAMBDA { return vminq_f32(x.v[i], y.v[i]); }); }
INLINE Floats at_least(Floats x, Floats y) { return each([&](int i) INLINE_LAMBDA { return vmaxq_f32(x.v[i], y.v[i]); }); }
INLINE Floats sub(Floats x, Floats y) { return each([&](int i) INLINE_LAMBDA { return vsubq_f32(x.v[i], y.v[i]); }); }
INLINE Floats load_floats(const float* from) { return each([&](int i) INLINE_LAMBDA { return vld1q_f32(from + 4 * i); }); }
INLINE void store(float* to, Floats x) {
    for (int i = 0; i < 4; ++i) vst1q_f32(to + 4 * i, x.v[i]);
}
INLINE float sum_lanes(Floats x) {
    return vaddvq_f32(vaddq_f32(vaddq_f32(x.v[0], x.v[1]), vaddq_f32(x.v[2], x.v[3])));
}
// Of activations that are quantized: bits without their sign, rounded numbers, bytes.
INLINE Ints magnitudes(const float* from) {
    Ints r;
    for (int i = 0; i < 4; ++i)
        r.v[i] = vandq_s32(vreinterpretq_s32_f32(vld1q_f32(from + 4 * i)), vdupq_n_s32(0x7fffffff));
    return r;
}
INLINE Ints larger(Ints x, Ints y) {
    for (int i = 0; i < 4; ++i) x.v[i] = vmaxq_s32(x.v[i], y.v[i]);
    return x;
}
INLINE int32_t largest(Ints x) {
    return vmaxvq_s32(vmaxq_s32(vmaxq_s32(x.v[0], x.v[1]), vmaxq_s32(x.v[2], x.v[3])));
}
INLINE Ints nearest(Floats x) {
    return {vcvtnq_s32_f32(x.v[0]), vcvtnq_s32_f32(x.v[1]), vcvtnq_s32_f32(x.v[2]), vcvtnq_s32_f32(x.v[3])};
}
INLINE int32_t sum_lanes(Ints x) {
    return vaddvq_s32(vaddq_s32(vaddq_s32(x.v[0], x.v[1]), vaddq_s32(x.v[2], x.v[3])));
}
INLINE void store_bytes(int8_t* to, Ints x) {
    const int16x8_t low = vcombine_s16(vmovn_s32(x.v[0]), vmovn_s32(x.v[1])), high = vcombine_s16(vmovn_s32(x.v[2]), vmovn_s32(x.v[3]));
    vst1q_s8(to, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}
INLINE uint16x4_t halves_at(const uint8_t* from) { return vld1_u16(reinterpret_cast<const uint16_t*>(from)); }
INLINE Floats load_f16(const uint8_t* from) {
    return each([&](int i) INLINE_LAMBDA { return vcvt_f32_f16(vreinterpret_f16_u16(halves_at(from + 8 * i))); });
}
INLINE Floats load_bf16(const uint8_t* from) {
    return each([&](int i) INLINE_LAMBDA { return vreinterpretq_f32_u32(vshll_n_u16(halves_at(from + 8 * i), 16)); });
}
struct Octets { uint8x16_t v; };  // a byte a row, without a sign

INLINE Octets octets(const uint8_t* from) { return {vld1q_u8(from)}; }
template <int Right, int Mask>
INLINE Octets shift_and_mask(Octets b) {
    if constexpr (Right > 0) b.v = vshrq_n_u8(b.v, Right);
    return {vandq_u8(b.v, vdupq_n_u8(Mask))};
}
INLINE Octets either(Octets x, Octets y) { return {vorrq_u8(x.v, y.v)}; }
INLINE Floats to_floats(Octets x) {
    uint16x8_t low = vmovl_u8(vget_low_u8(x.v)), high = vmovl_u8(vget_high_u8(x.v));
    return {vcvtq_f32_u32(vmovl_u16(vget_low_u16(low))), vcvtq_f32_u32(vmovl_u16(vget_high_u16(low))),
            vcvtq_f32_u32(vmovl_u16(vget_low_u16(high))), vcvtq_f32_u32(vmovl_u16(vget_high_u16(high)))};
}
INLINE Floats load_s8(const uint8_t* from) {
    int8x16_t v = vreinterpretq_s8_u8(vld1q_u8(from));
    int16x8_t low = vmovl_s8(vget_low_s8(v)), high = vmovl_s8(vget_high_s8(v));
    return {vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(low))),
            vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(high)))};
}
INLINE void split_bf16(const uint8_t* from, Floats& even, Floats& odd) {
    for (int i = 0; i < 4; ++i) {
        uint32x4_t v = vreinterpretq_u32_u8(vld1q_u8(from + 16 * i));
        even.v[i] = vreinterpretq_f32_u32(vshlq_n_u32(v, 16));
        odd.v[i] = vreinterpretq_f32_u32(vandq_u32(v, vdupq_n_u32(0xffff0000u)));
    }
}
