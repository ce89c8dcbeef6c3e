// Vector types for AVX-512 VNNI: sixteen lanes are one register.

struct Ints { __m512i v; };
struct Floats { __m512 v; };
struct Bytes { __m512i v; };

INLINE Bytes load(const uint8_t* from) { return {_mm512_loadu_si512(from)}; }
// What was loaded is in its register now: a compiler loads in the order of use, and loads in the order of addresses are what prefetchers see.
INLINE void loaded(Bytes b) {
#if defined(__GNUC__)
    asm volatile("" : : "v"(b.v));
#else
    (void)b;
#endif
}
template <int Right, int Mask>
INLINE Bytes shift_and_mask(Bytes b) {  // bits that cross into a neighbouring byte are masked away
    if constexpr (Right > 0) b.v = _mm512_srli_epi16(b.v, Right);
    if constexpr (Right < 0) b.v = _mm512_slli_epi16(b.v, -Right);
    return {_mm512_and_si512(b.v, _mm512_set1_epi8(Mask))};
}
INLINE Bytes either(Bytes x, Bytes y) { return {_mm512_or_si512(x.v, y.v)}; }
INLINE Bytes signed_codes(Bytes b) {  // + 128, which makes them unsigned; `start` takes it back
    return {_mm512_xor_si512(b.v, _mm512_set1_epi8(-128))};
}
INLINE __m128i load128(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
INLINE __m256i load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
INLINE Bytes lookup(const int8_t* values, Bytes b) {
    return {_mm512_shuffle_epi8(_mm512_broadcast_i32x4(load128(values)), b.v)};
}
// The bytes of `low` and `high` in turn, 128 of them; see `bf12_position` for their order.
INLINE void store_pairs(uint16_t* to, Bytes low, Bytes high) {
    _mm512_storeu_si512(to, _mm512_unpacklo_epi8(low.v, high.v));
    _mm512_storeu_si512(to + 32, _mm512_unpackhi_epi8(low.v, high.v));
}
INLINE Ints broadcast_int(const int32_t* from) { return {_mm512_set1_epi32(*from)}; }
template <bool Signed, int N>
INLINE Ints dot(Ints total, const Bytes (&w)[N], const int8_t* a) {
    for (int g = 0; g < N; ++g) {
        const auto& four = *reinterpret_cast<const int8_t (*)[4]>(a + 4 * g);
#if defined(__GNUC__)
        // One instruction that broadcasts as it reads. GCC makes two, and a register that is written is one line less that a core reads ahead.
        asm("vpdpbusd %1%{1to16%}, %2, %0" : "+v"(total.v) : "m"(four), "v"(w[g].v));
#else
        int32_t whole;
        std::memcpy(&whole, four, 4);
        total.v = _mm512_dpbusd_epi32(total.v, w[g].v, _mm512_set1_epi32(whole));
#endif
    }
    return total;
}
INLINE Ints add(Ints x, Ints y) { return {_mm512_add_epi32(x.v, y.v)}; }
INLINE Ints sixteenth(Ints x) { return {_mm512_srai_epi32(x.v, 4)}; }  // of multiples of 16
INLINE Floats zeros() { return {_mm512_setzero_ps()}; }
INLINE Floats to_floats(Ints x) { return {_mm512_cvtepi32_ps(x.v)}; }
INLINE Floats broadcast(const float* from) { return {_mm512_set1_ps(*from)}; }
INLINE Floats fma(Floats x, Floats y, Floats z) { return {_mm512_fmadd_ps(x.v, y.v, z.v)}; }
INLINE Floats mul(Floats x, Floats y) { return {_mm512_mul_ps(x.v, y.v)}; }
INLINE Floats add(Floats x, Floats y) { return {_mm512_add_ps(x.v, y.v)}; }
INLINE Floats sub(Floats x, Floats y) { return {_mm512_sub_ps(x.v, y.v)}; }
INLINE Floats divide(Floats x, Floats y) { return {_mm512_div_ps(x.v, y.v)}; }
// NaN of `x` passes.
INLINE Floats at_most(Floats x, Floats y) { return {_mm512_min_ps(y.v, x.v)}; }
INLINE Floats at_least(Floats x, Floats y) { return {_mm512_max_ps(y.v, x.v)}; }
INLINE Floats load_floats(const float* from) { return {_mm512_loadu_ps(from)}; }
INLINE void store(float* to, Floats x) { _mm512_storeu_ps(to, x.v); }
// Past the caches, which need not read first what is overwritten; `to` is a multiple of 64 bytes. `end_streams` comes after the last.
INLINE void stream(float* to, Floats x) { _mm512_stream_ps(to, x.v); }
INLINE void end_streams() { _mm_sfence(); }
INLINE float sum_lanes(Floats x) { return _mm512_reduce_add_ps(x.v); }
#include "arch/avx512/sums_of.inl"
INLINE void sum_each(const Floats (&x)[16], float* out) {
    __m512 v[16];
    for (int i = 0; i < 16; ++i) v[i] = x[i].v;
    _mm512_storeu_ps(out, sums_of(v));
}
// Of activations that are quantized: bits without their sign, rounded numbers, bytes.
INLINE Ints magnitudes(const float* from) {
    return {_mm512_and_si512(_mm512_loadu_si512(from), _mm512_set1_epi32(0x7fffffff))};
}
INLINE Ints larger(Ints x, Ints y) { return {_mm512_max_epi32(x.v, y.v)}; }
INLINE int32_t largest(Ints x) { return _mm512_reduce_max_epi32(x.v); }
INLINE Ints nearest(Floats x) { return {_mm512_cvtps_epi32(x.v)}; }
INLINE int32_t sum_lanes(Ints x) { return _mm512_reduce_add_epi32(x.v); }
INLINE void store_bytes(int8_t* to, Ints x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(x.v)); }
INLINE Floats load_f16(const uint8_t* from) { return {_mm512_cvtph_ps(load256(from))}; }
INLINE Floats load_bf16(const uint8_t* from) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load256(from)), 16))};
}
#include "arch/octets_x86.inl"

INLINE Floats to_floats(Octets x) { return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(x.v))}; }
INLINE Floats load_s8(const uint8_t* from) { return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load128(from)))}; }
INLINE void split_bf16(const uint8_t* from, Floats& even, Floats& odd) {
    __m512i v = _mm512_loadu_si512(from);
    even = {_mm512_castsi512_ps(_mm512_slli_epi32(v, 16))};
    odd = {_mm512_castsi512_ps(_mm512_and_si512(v, _mm512_set1_epi32(static_cast<int32_t>(0xffff0000u))))};
}
