// Encodes rows of bf16 in 12 bits per number, without loss, and decodes them. The base exponent of a row is estimated from a sample of
// its numbers: a poor estimate costs memory, never precision.
#include "formats/bf16_12bit.hpp"

#include <cstring>

#include "arch/dispatch.hpp"
#include "common/half_float.hpp"
#include "common/scratch.hpp"
#include "formats/matrix.hpp"

namespace grus {
namespace {

constexpr int kCodes = 15;
constexpr int64_t kFarAhead = 4096;  // prefetch distance in bytes while a panel is decoded into a cache
constexpr int64_t kSampled = 256;  // numbers of a row that are looked at

int exponent_of(uint16_t bits) { return bits >> 7 & 0xff; }

// 1 for a number that has no code. Written so that compilers make vectors of loops over it.
uint16_t is_outlier(uint16_t bits, uint16_t base) {
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
    uint16_t outlier = 0;
    for (int i = 0; i < 64; ++i) {
        const auto exponent = static_cast<uint16_t>(from[i] >> 7 & 0xff);
        const auto kept = static_cast<uint16_t>(is_outlier(from[i], base) - 1);  // all bits, or none
        outlier = static_cast<uint16_t>(outlier + is_outlier(from[i], base));
        signed_fractions[i] = static_cast<uint8_t>(((from[i] >> 8 & 0x80) | (from[i] & 0x7f)) & kept);
        codes[i] = static_cast<uint8_t>((exponent - base) & kept & -static_cast<int>(exponent != 0));
    }
    for (int i = 0; i < 64; i += 8) std::memcpy(to + 64 * half + bf12_position(i), signed_fractions + i, 8);
    for (int i = 0; i < 64; i += 8)
        for (int j = 0; j < 8; ++j)
            to[kBf12Columns + bf12_position(i) + j] |= static_cast<uint8_t>(codes[i + j] << 4 * half);
    return outlier;
}

int64_t encode_row(const uint16_t* row, int64_t columns, int base, uint8_t* to) {
    int64_t outlier = 0;
    for (int64_t c = 0; c < columns; c += kBf12Columns, to += kBf12Bytes) {
        std::memset(to + kBf12Columns, 0, kBf12Bytes - kBf12Columns);
        for (int half = 0; half < 2; ++half) {
            const int64_t left = columns - c - 64 * half;
            uint16_t rest[64] = {};
            if (left < 64 && left > 0) std::memcpy(rest, row + c + 64 * half, static_cast<size_t>(left) * 2);
            outlier += encode_half(left < 64 ? rest : row + c + 64 * half, static_cast<uint16_t>(base), half, to);
        }
    }
    return outlier;
}

}  // namespace

const uint8_t* bf12_panel(const Tier& tier, const GrusMatrix& m, const GrusBf12& from, int64_t panel, uint8_t* room) {
    const int64_t first = panel * kRows, rows = m.rows - first < kRows ? m.rows - first : kRows, stride = bf12_panel_stride(m.columns);
    const int64_t blocks = bf12_blocks(m.columns), bytes = blocks * kBf12Bytes;
    for (int64_t r = 0; r < rows; ++r)
        tier.decode_bf12(from.rows + (first + r) * bytes, from.bases[first + r], blocks, kFarAhead,
                           reinterpret_cast<uint16_t*>(room + r * stride));
    for (int64_t i = from.starts[panel]; i < from.starts[panel + 1]; ++i) {
        const GrusBf12Outlier& outlier = from.outliers[i];
        std::memcpy(room + outlier.row * stride + 2 * outlier.column, &outlier.bits, 2);
    }
    return room;
}

void bf12_row(const Tier& tier, const GrusMatrix& m, const GrusBf12& from, int64_t row, float* out) {
    static thread_local Scratch scratch;
    const int64_t blocks = bf12_blocks(m.columns), panel = row / kRows;
    auto* halves = reinterpret_cast<uint16_t*>(scratch.at_least(blocks * kBf12Columns * 2));
    tier.decode_bf12(from.rows + row * blocks * kBf12Bytes, from.bases[row], blocks, 0, halves);
    for (int64_t i = from.starts[panel]; i < from.starts[panel + 1]; ++i)
        if (from.outliers[i].row == row % kRows) halves[from.outliers[i].column] = from.outliers[i].bits;
    for (int64_t c = 0; c < m.columns; ++c) out[c] = from_bf16(halves[c]);
}

}  // namespace grus

using namespace grus;

extern "C" {

// `w [rows][columns]` to 12-bit rows and their bases; how many numbers of each row have no code.
GRUS_API void grus_bf12_encode(const uint16_t* w, int64_t rows, int64_t columns, uint8_t* to, uint8_t* bases, int64_t* outlier) {
    for (int64_t r = 0; r < rows; ++r) {
        const int base = base_of(w + r * columns, columns);
        bases[r] = static_cast<uint8_t>(base);
        outlier[r] = encode_row(w + r * columns, columns, base, to + r * bf12_row_bytes(columns));
    }
}

// Those that have none, row after row; `counts` of each row.
GRUS_API void grus_bf12_outliers(const uint16_t* w, int64_t rows, int64_t columns, const uint8_t* bases, const int64_t* counts,
                                 GrusBf12Outlier* outlier) {
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; counts[r] && c < columns; ++c)
            if (is_outlier(w[r * columns + c], bases[r]))
                *outlier++ = {static_cast<int32_t>(c), static_cast<uint16_t>(r % kRows), w[r * columns + c]};
}

GRUS_API void grus_bf12_rows(const GrusMatrix* m, const int64_t* ids, int64_t n, float* out) {
    for (int64_t i = 0; i < n; ++i) bf12_row(current_tier(), *m, *m->bf12, ids[i], out + i * m->columns);
}

}  // extern "C"
