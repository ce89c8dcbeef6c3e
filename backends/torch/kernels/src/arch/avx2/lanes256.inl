// Vector types for the two 256-bit x86 tiers: sixteen lanes are two registers. Each tier defines its own `dot`.

struct Ints { __m256i a, b; };
struct Floats { __m256 a, b; };
struct Bytes { __m256i a, b; };

INLINE __m256i load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
INLINE Bytes load(const uint8_t* from) { return {load256(from), load256(from + 32)}; }
template <int Right, int Mask>
INLINE __m256i shift_and_mask256(__m256i v) {  // bits that cross into a neighbouring byte are masked away
    if constexpr (Right > 0) v = _mm256_srli_epi16(v, Right);
    if constexpr (Right < 0) v = _mm256_slli_epi16(v, -Right);
    return _mm256_and_si256(v, _mm256_set1_epi8(Mask));
}
template <int Right, int Mask>
INLINE Bytes shift_and_mask(Bytes v) {
    return {shift_and_mask256<Right, Mask>(v.a), shift_and_mask256<Right, Mask>(v.b)};
}
INLINE Bytes either(Bytes x, Bytes y) { return {_mm256_or_si256(x.a, y.a), _mm256_or_si256(x.b, y.b)}; }
INLINE Bytes lookup(const int8_t* values, Bytes v) {
    __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values)));
    return {_mm256_shuffle_epi8(table, v.a), _mm256_shuffle_epi8(table, v.b)};
}
// The bytes of `low` and `high` in turn, 128 of them; see `bf12_position` for their order.
INLINE void store_pairs(uint16_t* to, Bytes low, Bytes high) {
    auto* out = reinterpret_cast<__m256i*>(to);
    _mm256_storeu_si256(out, _mm256_unpacklo_epi8(low.a, high.a));
    _mm256_storeu_si256(out + 1, _mm256_unpacklo_epi8(low.b, high.b));
    _mm256_storeu_si256(out + 2, _mm256_unpackhi_epi8(low.a, high.a));
    _mm256_storeu_si256(out + 3, _mm256_unpackhi_epi8(low.b, high.b));
}
INLINE __m256i quad(const int8_t* a) {
    int32_t four;
    std::memcpy(&four, a, 4);
    return _mm256_set1_epi32(four);
}
INLINE Ints broadcast_int(const int32_t* from) {
    __m256i v = _mm256_set1_epi32(*from);
    return {v, v};
}
INLINE Ints add(Ints x, Ints y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
INLINE Ints sixteenth(Ints x) { return {_mm256_srai_epi32(x.a, 4), _mm256_srai_epi32(x.b, 4)}; }  // of multiples of 16
INLINE Floats zeros() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
INLINE Floats to_floats(Ints v) { return {_mm256_cvtepi32_ps(v.a), _mm256_cvtepi32_ps(v.b)}; }
INLINE Floats broadcast(const float* from) {
    __m256 v = _mm256_broadcast_ss(from);
    return {v, v};
}
INLINE Floats fma(Floats x, Floats y, Floats z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
INLINE Floats mul(Floats x, Floats y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
INLINE Floats add(Floats x, Floats y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
INLINE Floats divide(Floats x, Floats y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
// NaN of `x` passes.
INLINE Floats at_most(Floats x, Floats y) { return {_mm256_min_ps(y.a, x.a), _mm256_min_ps(y.b, x.b)}; }
INLINE Floats at_least(Floats x, Floats y) { return {_mm256_max_ps(y.a, x.a), _mm256_max_ps(y.b, x.b)}; }
INLINE Floats sub(Floats x, Floats y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
INLINE Floats load_floats(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
INLINE void store(float* to, Floats v) {
    _mm256_storeu_ps(to, v.a);
    _mm256_storeu_ps(to + 8, v.b);
}
INLINE float sum_lanes(Floats x) {
    __m256 eight = _mm256_add_ps(x.a, x.b);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
}
// Of activations that are quantized: bits without their sign, rounded numbers, bytes.
INLINE Ints magnitudes(const float* from) {
    const __m256i mask = _mm256_set1_epi32(0x7fffffff);
    return {_mm256_and_si256(load256(from), mask), _mm256_and_si256(load256(from + 8), mask)};
}
INLINE Ints larger(Ints x, Ints y) { return {_mm256_max_epi32(x.a, y.a), _mm256_max_epi32(x.b, y.b)}; }
INLINE int32_t largest(Ints x) {
    const __m256i eight = _mm256_max_epi32(x.a, x.b);
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_max_epi32(four, _mm_unpackhi_epi64(four, four));
    return _mm_cvtsi128_si32(_mm_max_epi32(four, _mm_shuffle_epi32(four, 1)));
}
INLINE Ints nearest(Floats x) { return {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }
INLINE int32_t sum_lanes(Ints x) {
    const __m256i eight = _mm256_add_epi32(x.a, x.b);
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 1)));
}
INLINE __m128i halves_of(__m256i x) { return _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)); }
INLINE void store_bytes(int8_t* to, Ints x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(halves_of(x.a), halves_of(x.b)));
}
INLINE __m128i load128(const uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
INLINE Floats load_f16(const uint8_t* from) { return {_mm256_cvtph_ps(load128(from)), _mm256_cvtph_ps(load128(from + 16))}; }
INLINE __m256 widen_bf16(__m128i v) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16)); }
INLINE Floats load_bf16(const uint8_t* from) { return {widen_bf16(load128(from)), widen_bf16(load128(from + 16))}; }
INLINE __m128i low64(const uint8_t* from) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)); }
#include "arch/octets_x86.inl"

INLINE Floats to_floats(Octets x) {
    return to_floats(Ints{_mm256_cvtepu8_epi32(x.v), _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(x.v, x.v))});
}
INLINE Floats load_s8(const uint8_t* from) {
    return to_floats({_mm256_cvtepi8_epi32(low64(from)), _mm256_cvtepi8_epi32(low64(from + 8))});
}
INLINE void split_bf16(const uint8_t* from, Floats& even, Floats& odd) {
    Bytes v = load(from);
    __m256i high = _mm256_set1_epi32(static_cast<int32_t>(0xffff0000u));
    even = {_mm256_castsi256_ps(_mm256_slli_epi32(v.a, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(v.b, 16))};
    odd = {_mm256_castsi256_ps(_mm256_and_si256(v.a, high)), _mm256_castsi256_ps(_mm256_and_si256(v.b, high))};
}
