// See grids.hpp. The grids themselves are those of backends/grids.py, which gives them to this library when it is opened.
#include "formats/grids.hpp"

#include <bit>
#include <cstring>

#include "formats/matrix.hpp"

namespace grus {
namespace {

// Where each grid begins, as in backends/grids.py.
constexpr int kIQ2XXSAt = 0, kIQ2XSAt = 2048, kIQ2SAt = 6144, kIQ3XXSAt = 14336, kIQ3SAt = 15360, kIQ1At = 17408, kIndices = 33792;
uint8_t indices[kIndices];

uint16_t u16(const uint8_t* p) {
    uint16_t v;
    std::memcpy(&v, p, 2);
    return v;
}

uint32_t u32(const uint8_t* p) {
    uint32_t v;
    std::memcpy(&v, p, 4);
    return v;
}

uint8_t odd(int step) { return static_cast<uint8_t>(2 * step + 1); }

// Seven signs are stored; that of the eighth weight makes their number even.
uint32_t eight_signs(uint32_t seven) { return seven | (std::popcount(seven) & 1u) << 7; }

// An entry of `n` weights, whose signs go to bit `Sign` of the codes.
template <int Sign>
void put_entry(const uint8_t* entry, int n, uint32_t signs, uint8_t* codes) {
    for (int i = 0; i < n; ++i) codes[i] = static_cast<uint8_t>(entry[i] | (signs >> i & 1) << Sign);
}

}  // namespace

void read_iq2_xxs(const uint8_t* p, int j, Block& out) {  // d; per block four entries of 8 bits, then 4 x 7 signs and the step
    const uint8_t* q = p + 2 + 8 * j;
    const uint32_t rest = u32(q + 4);
    for (int l = 0; l < 4; ++l) put_entry<2>(indices + kIQ2XXSAt + 8 * q[l], 8, eight_signs(rest >> 7 * l & 127), out.codes + 8 * l);
    out.block_scale[0] = odd(static_cast<int>(rest >> 28));
    out.scale = u16(p);
}

void read_iq2_xs(const uint8_t* p, int j, Block& out) {  // d; entries of 9 bits with 7 signs; 8 bytes of steps
    for (int l = 0; l < 4; ++l) {
        const uint16_t q = u16(p + 2 + 2 * (4 * j + l));
        put_entry<2>(indices + kIQ2XSAt + 8 * (q & 511), 8, eight_signs(q >> 9), out.codes + 8 * l);
    }
    out.block_scale[0] = odd(p[66 + j] & 15);
    out.block_scale[1] = odd(p[66 + j] >> 4);
    out.scale = u16(p);
}

void read_iq2_s(const uint8_t* p, int j, Block& out) {  // d; 32 bytes of entries, 32 of signs, 8 of higher bits, 8 of steps
    for (int l = 0; l < 4; ++l) {
        const int entry = p[2 + 4 * j + l] | (p[66 + j] >> 2 * l & 3) << 8;
        put_entry<2>(indices + kIQ2SAt + 8 * entry, 8, p[34 + 4 * j + l], out.codes + 8 * l);
    }
    out.block_scale[0] = odd(p[74 + j] & 15);
    out.block_scale[1] = odd(p[74 + j] >> 4);
    out.scale = u16(p);
}

void read_iq3_xxs(const uint8_t* p, int j, Block& out) {  // d; 64 bytes of entries; per block 4 x 7 signs and the step
    const uint32_t rest = u32(p + 66 + 4 * j);
    for (int i = 0; i < 8; ++i) {
        const uint32_t signs = eight_signs(rest >> 7 * (i / 2) & 127) >> 4 * (i % 2);
        put_entry<3>(indices + kIQ3XXSAt + 4 * p[2 + 8 * j + i], 4, signs, out.codes + 4 * i);
    }
    out.block_scale[0] = odd(static_cast<int>(rest >> 28));
    out.scale = u16(p);
}

void read_iq3_s(const uint8_t* p, int j, Block& out) {  // d; 64 bytes of entries, 8 of ninth bits, 32 of signs, 4 of steps
    for (int i = 0; i < 8; ++i) {
        const int entry = p[2 + 8 * j + i] | (p[66 + j] >> i & 1) << 8;
        put_entry<3>(indices + kIQ3SAt + 4 * entry, 4, p[74 + 4 * j + i / 2] >> 4 * (i % 2), out.codes + 4 * i);
    }
    out.block_scale[0] = odd(p[106 + j / 2] >> 4 * (j % 2) & 15);
    out.scale = u16(p);
}

void read_iq1_s(const uint8_t* p, int j, Block& out) {  // d; 32 bytes of entries; per block 4 x 3 higher bits, the step, a sign
    const uint16_t rest = u16(p + 34 + 2 * j);
    for (int l = 0; l < 4; ++l) {
        const int entry = p[2 + 4 * j + l] | (rest >> 3 * l & 7) << 8;
        put_entry<2>(indices + kIQ1At + 8 * entry, 8, rest >> 15 ? 255 : 0, out.codes + 8 * l);
    }
    out.block_scale[0] = odd(rest >> 12 & 7);
    out.scale = u16(p);
}

void read_iq1_m(const uint8_t* p, int j, Block& out) {  // 32 bytes of entries, 16 of higher bits and signs, 8 of steps and of d
    for (int l = 0; l < 4; ++l) {
        const int high = p[32 + 2 * j + l / 2] >> 4 * (l % 2);
        put_entry<2>(indices + kIQ1At + 8 * (p[4 * j + l] | (high & 7) << 8), 8, high & 8 ? 255 : 0, out.codes + 8 * l);
    }
    const int steps = u16(p + 48 + 2 * (j / 2)) >> 6 * (j % 2);
    out.block_scale[0] = odd(steps & 7);
    out.block_scale[1] = odd(steps >> 3 & 7);
    out.scale = 0;
    for (int i = 0; i < 4; ++i) out.scale |= static_cast<uint32_t>(u16(p + 48 + 2 * i) >> 12) << 4 * i;
}

}  // namespace grus

extern "C" GRUS_API void grus_use_grids(const uint8_t* from) { std::memcpy(grus::indices, from, grus::kIndices); }
