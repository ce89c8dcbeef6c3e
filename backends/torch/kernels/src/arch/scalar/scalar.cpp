// The scalar tier in plain C++: runs on every CPU, and is the reference for the tests of the other tiers.
#include <cmath>
#include <utility>

#include "arch/tier.hpp"
#include "common/compiler.hpp"
#include "common/half_float.hpp"

namespace grus {
namespace {

constexpr int kTile = 2;
constexpr int kPositions = 4, kPanels = 1;
constexpr int kSignedBias = 0;

struct Ints { int32_t v[kRows]; };
struct Floats { float v[kRows]; };
struct Bytes { uint8_t v[64]; };

INLINE Bytes load(const uint8_t* from) {
    Bytes r;
    std::memcpy(r.v, from, 64);
    return r;
}
template <int Right, int Mask>
INLINE Bytes shift_and_mask(Bytes b) {
    for (auto& v : b.v) v = static_cast<uint8_t>((Right >= 0 ? v >> (Right & 7) : v << (-Right & 7)) & Mask);
    return b;
}
INLINE Bytes either(Bytes a, const Bytes& b) {
    for (int i = 0; i < 64; ++i) a.v[i] |= b.v[i];
    return a;
}
INLINE Bytes signed_codes(const Bytes& b) { return b; }
INLINE Bytes lookup(const int8_t* values, Bytes b) {
    for (auto& v : b.v) v = static_cast<uint8_t>(values[v]);
    return b;
}
// The bytes of `low` and `high` in turn, 128 of them; see `bf12_position` for their order.
INLINE void store_pairs(uint16_t* to, const Bytes& low, const Bytes& high) {
    for (int i = 0; i < 64; ++i) {
        const int at = bf12_position(i);
        to[i] = static_cast<uint16_t>(low.v[at] | high.v[at] << 8);
    }
}
INLINE Ints broadcast_int(const int32_t* from) {
    Ints r;
    for (auto& v : r.v) v = *from;
    return r;
}
template <bool Signed, int N>
INLINE Ints dot(Ints total, const Bytes (&w)[N], const int8_t* a) {
    for (int g = 0; g < N; ++g)
        for (int row = 0; row < kRows; ++row)
            for (int i = 0; i < kQuad; ++i) {
                uint8_t code = w[g].v[row * kQuad + i];
                total.v[row] += (Signed ? static_cast<int8_t>(code) : code) * a[g * kQuad + i];
            }
    return total;
}
INLINE Floats zeros() { return {}; }
template <class F>
INLINE Floats each(F&& f) {
    Floats r;
    for (int i = 0; i < kRows; ++i) r.v[i] = f(i);
    return r;
}
INLINE Floats to_floats(const Ints& a) { return each([&](int i) { return static_cast<float>(a.v[i]); }); }
INLINE Floats broadcast(const float* from) { return each([&](int) { return *from; }); }
INLINE Floats fma(const Floats& a, const Floats& b, const Floats& c) {
    return each([&](int i) { return a.v[i] * b.v[i] + c.v[i]; });
}
INLINE Floats mul(const Floats& a, const Floats& b) { return each([&](int i) { return a.v[i] * b.v[i]; }); }
INLINE Floats divide(const Floats& a, const Floats& b) { return each([&](int i) { return a.v[i] / b.v[i]; }); }
// NaN of `a` passes.
INLINE Floats at_most(const Floats& a, const Floats& b) { return each([&](int i) { return a.v[i] > b.v[i] ? b.v[i] : a.v[i]; }); }
INLINE Floats at_least(const Floats& a, const Floats& b) { return each([&](int i) { return a.v[i] < b.v[i] ? b.v[i] : a.v[i]; }); }
INLINE Floats add(const Floats& a, const Floats& b) { return each([&](int i) { return a.v[i] + b.v[i]; }); }
INLINE Floats sub(const Floats& a, const Floats& b) { return each([&](int i) { return a.v[i] - b.v[i]; }); }
INLINE Floats load_floats(const float* from) {
    Floats r;
    std::memcpy(r.v, from, sizeof r.v);
    return r;
}
INLINE void store(float* to, const Floats& a) { std::memcpy(to, a.v, sizeof a.v); }
INLINE float sum_lanes(const Floats& a) {
    float sum = 0.0f;
    for (float v : a.v) sum += v;
    return sum;
}
// Of activations that are quantized: bits without their sign, rounded numbers, bytes.
INLINE Ints magnitudes(const float* from) {
    Ints r;
    for (int i = 0; i < kRows; ++i) r.v[i] = static_cast<int32_t>(as_bits(from[i]) & 0x7fffffffu);
    return r;
}
INLINE Ints larger(Ints a, const Ints& b) {
    for (int i = 0; i < kRows; ++i) a.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
    return a;
}
INLINE int32_t largest(const Ints& a) {
    int32_t most = a.v[0];
    for (int32_t v : a.v) most = most > v ? most : v;
    return most;
}
INLINE Ints nearest(const Floats& a) {  // adding 1.5 * 2^23 rounds to nearest even; the low byte is the number
    Ints r;
    for (int i = 0; i < kRows; ++i) r.v[i] = static_cast<int8_t>(as_bits(a.v[i] + 12582912.0f));
    return r;
}
INLINE int32_t sum_lanes(const Ints& a) {
    int32_t sum = 0;
    for (int32_t v : a.v) sum += v;
    return sum;
}
INLINE void store_bytes(int8_t* to, const Ints& a) {
    for (int i = 0; i < kRows; ++i) to[i] = static_cast<int8_t>(a.v[i]);
}
INLINE uint16_t half_at(const uint8_t* from, int i) {
    uint16_t h;
    std::memcpy(&h, from + 2 * i, 2);
    return h;
}
INLINE Floats load_f16(const uint8_t* from) { return each([&](int i) { return from_f16(half_at(from, i)); }); }
INLINE Floats load_bf16(const uint8_t* from) { return each([&](int i) { return from_bf16(half_at(from, i)); }); }
struct Octets { uint8_t v[kRows]; };  // a byte a row, without a sign

INLINE Octets octets(const uint8_t* from) {
    Octets r;
    std::memcpy(r.v, from, kRows);
    return r;
}
template <int Right, int Mask>
INLINE Octets shift_and_mask(Octets b) {
    for (auto& v : b.v) v = static_cast<uint8_t>(v >> Right & Mask);
    return b;
}
INLINE Octets either(Octets a, const Octets& b) {
    for (int i = 0; i < kRows; ++i) a.v[i] |= b.v[i];
    return a;
}
INLINE Floats to_floats(const Octets& a) { return each([&](int i) { return static_cast<float>(a.v[i]); }); }
INLINE Floats load_s8(const uint8_t* from) {
    return each([&](int i) { return static_cast<float>(static_cast<int8_t>(from[i])); });
}
INLINE void split_bf16(const uint8_t* from, Floats& even, Floats& odd) {
    even = each([&](int i) { return from_bf16(half_at(from, 2 * i)); });
    odd = each([&](int i) { return from_bf16(half_at(from, 2 * i + 1)); });
}

#include "arch/plain_memory.inl"
#include "arch/make_tier.inl"

}  // namespace

const Tier* scalar_tier() {
    static const Tier tier = make_tier("scalar");
    return &tier;
}

}  // namespace grus
