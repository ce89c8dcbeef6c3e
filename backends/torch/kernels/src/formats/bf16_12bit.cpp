// Brings rows of bf16 into twelve bits, and back. Which of a row's exponents have a code is told from some of its numbers: a wrong
// guess costs memory, not precision.
#include "formats/bf16_12bit.hpp"

#include <cstring>

#include "arch/dispatch.hpp"
#include "common/half_float.hpp"
#include "common/scratch.hpp"
#include "formats/matrix.hpp"

namespace grus {
namespace {

constexpr int kCodes = 15;
constexpr int64_t kFarAhead = 4096;  // bytes that memory is asked for while a panel is multiplied out of a cache
constexpr int64_t kSampled = 256;  // numbers of a row that are looked at

int exponent_of(uint16_t bits) { return bits >> 7 & 0xff; }

// 1 for a number that has no code. Written so that compilers make vectors of loops over it.
uint16_t is_odd(uint16_t bits, uint16_t base) {
    const auto exponent = static_cast<uint16_t>(bits >> 7 & 0xff);
    return static_cast<uint16_t>((exponent != 0) & (static_cast<uint16_t>(exponent - base - 1) >= kCodes));
}

// Below the fifteen neighbours that most numbers have.
int base_of(const uint16_t* row, int64_t columns) {
    int32_t seen[256] = {};
    const int64_t apart = columns / kSampled + 1;
    for (int64_t c = 0; c < columns; c += apart) ++seen[exponent_of(row[c])];
    int64_t within = 0, most = -1;
    int best = 0;
    for (int e = 1; e < 256; ++e) {
        within += seen[e];
        if (e > kCodes) within -= seen[e - kCodes];
        if (e >= kCodes && within > most) most = within, best = e - kCodes;  // of equals the lowest: few numbers are large
    }
    return best;
}

// Half a block. How many numbers have no code.
int encode_half(const uint16_t* from, uint16_t base, int half, uint8_t* to) {
    uint8_t signed_fractions[64], codes[64];
    uint16_t odd = 0;
    for (int i = 0; i < 64; ++i) {
        const auto exponent = static_cast<uint16_t>(from[i] >> 7 & 0xff);
        const auto kept = static_cast<uint16_t>(is_odd(from[i], base) - 1);  // all bits, or none
        odd = static_cast<uint16_t>(odd + is_odd(from[i], base));
        signed_fractions[i] = static_cast<uint8_t>(((from[i] >> 8 & 0x80) | (from[i] & 0x7f)) & kept);
        codes[i] = static_cast<uint8_t>((exponent - base) & kept & -static_cast<int>(exponent != 0));
    }
    for (int i = 0; i < 64; i += 8) std::memcpy(to + 64 * half + place_in_twelve(i), signed_fractions + i, 8);
    for (int i = 0; i < 64; i += 8)
        for (int j = 0; j < 8; ++j)
            to[kTwelveColumns + place_in_twelve(i) + j] |= static_cast<uint8_t>(codes[i + j] << 4 * half);
    return odd;
}

int64_t encode_row(const uint16_t* row, int64_t columns, int base, uint8_t* to) {
    int64_t odd = 0;
    for (int64_t c = 0; c < columns; c += kTwelveColumns, to += kTwelveBytes) {
        std::memset(to + kTwelveColumns, 0, kTwelveBytes - kTwelveColumns);
        for (int half = 0; half < 2; ++half) {
            const int64_t left = columns - c - 64 * half;
            uint16_t rest[64] = {};
            if (left < 64 && left > 0) std::memcpy(rest, row + c + 64 * half, static_cast<size_t>(left) * 2);
            odd += encode_half(left < 64 ? rest : row + c + 64 * half, static_cast<uint16_t>(base), half, to);
        }
    }
    return odd;
}

}  // namespace

const uint8_t* panel_of_twelve(const Tier& tier, const GrusMatrix& m, const GrusTwelve& from, int64_t panel, uint8_t* room) {
    const int64_t first = panel * kRows, rows = m.rows - first < kRows ? m.rows - first : kRows, stride = twelve_stride(m.columns);
    const int64_t blocks = twelve_blocks(m.columns), bytes = blocks * kTwelveBytes;
    for (int64_t r = 0; r < rows; ++r)
        tier.from_twelve(from.rows + (first + r) * bytes, from.bases[first + r], blocks, kFarAhead,
                           reinterpret_cast<uint16_t*>(room + r * stride));
    for (int64_t i = from.starts[panel]; i < from.starts[panel + 1]; ++i) {
        const GrusOdd& odd = from.odd[i];
        std::memcpy(room + odd.row * stride + 2 * odd.column, &odd.bits, 2);
    }
    return room;
}

void row_of_twelve(const Tier& tier, const GrusMatrix& m, const GrusTwelve& from, int64_t row, float* out) {
    static thread_local Scratch scratch;
    const int64_t blocks = twelve_blocks(m.columns), panel = row / kRows;
    auto* halves = reinterpret_cast<uint16_t*>(scratch.at_least(blocks * kTwelveColumns * 2));
    tier.from_twelve(from.rows + row * blocks * kTwelveBytes, from.bases[row], blocks, 0, halves);
    for (int64_t i = from.starts[panel]; i < from.starts[panel + 1]; ++i)
        if (from.odd[i].row == row % kRows) halves[from.odd[i].column] = from.odd[i].bits;
    for (int64_t c = 0; c < m.columns; ++c) out[c] = from_bf16(halves[c]);
}

}  // namespace grus

using namespace grus;

extern "C" {

// `w [rows][columns]` to rows of twelve bits and their bases; how many numbers of each row have no code.
GRUS_API void grus_to_twelve(const uint16_t* w, int64_t rows, int64_t columns, uint8_t* to, uint8_t* bases, int64_t* odd) {
    for (int64_t r = 0; r < rows; ++r) {
        const int base = base_of(w + r * columns, columns);
        bases[r] = static_cast<uint8_t>(base);
        odd[r] = encode_row(w + r * columns, columns, base, to + r * twelve_row_bytes(columns));
    }
}

// Those that have none, row after row; `counts` of each row.
GRUS_API void grus_odd_of_twelve(const uint16_t* w, int64_t rows, int64_t columns, const uint8_t* bases, const int64_t* counts,
                                 GrusOdd* odd) {
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; counts[r] && c < columns; ++c)
            if (is_odd(w[r * columns + c], bases[r]))
                *odd++ = {static_cast<int32_t>(c), static_cast<uint16_t>(r % kRows), w[r * columns + c]};
}

GRUS_API void grus_rows_of_twelve(const GrusMatrix* m, const int64_t* ids, int64_t n, float* out) {
    for (int64_t i = 0; i < n; ++i) row_of_twelve(current_tier(), *m, *m->twelve, ids[i], out + i * m->columns);
}

}  // extern "C"
