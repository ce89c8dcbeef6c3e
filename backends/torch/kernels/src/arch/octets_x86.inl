// Included by the tiers of x86.
// A byte a row, without a sign.
struct Octets { __m128i v; };

INLINE Octets octets(const uint8_t* from) { return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))}; }
template <int Right, int Mask>
INLINE Octets shift_and_mask(Octets b) {
    if constexpr (Right > 0) b.v = _mm_srli_epi16(b.v, Right);
    return {_mm_and_si128(b.v, _mm_set1_epi8(Mask))};
}
INLINE Octets either(Octets x, Octets y) { return {_mm_or_si128(x.v, y.v)}; }
