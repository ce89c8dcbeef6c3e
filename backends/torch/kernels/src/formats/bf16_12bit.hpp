// bf16 in twelve bits, without loss. A row's exponents are nearly all among fifteen neighbours, so a number is kept as its sign and
// fraction (a byte) and a code of its exponent (half a byte): 0 is exponent 0, the others the row's base and what they say. The
// few numbers that have another exponent are kept beside them and put in their places afterwards.
#pragma once
#include <cstdint>

extern "C" {
struct GrusOdd {
    int32_t column;
    uint16_t row, bits;  // the row within its panel
};

struct GrusTwelve {
    const uint8_t* rows;    // [row][blocks of 128 columns][128 signs and fractions, 64 times the codes of columns i and 64 + i]
    const uint8_t* bases;   // [row]
    const int64_t* starts;  // [panels + 1]
    const GrusOdd* odd;     // panel after panel
};
}

struct GrusMatrix;

namespace grus {

struct Tier;

constexpr int64_t kTwelveColumns = 128, kTwelveBytes = 192;  // of a block

// Where a column's byte lies among its 64: an instruction that takes bytes of two registers in turn takes the first half of each
// sixteen, and another one the second, so each makes 32 columns that follow one another.
constexpr int place_in_twelve(int column) { return column % 32 / 8 * 16 + column / 32 * 8 + column % 8; }

inline int64_t twelve_blocks(int64_t columns) { return (columns + kTwelveColumns - 1) / kTwelveColumns; }
inline int64_t twelve_row_bytes(int64_t columns) { return twelve_blocks(columns) * kTwelveBytes; }
// From one row of a panel of bf16 to the next. Not a power of two, or sixteen rows would compete for one place in a cache.
inline int64_t twelve_stride(int64_t columns) { return twelve_blocks(columns) * kTwelveColumns * 2 + 64; }

// A panel as rows of bf16, `twelve_stride` apart, in `room`; rows that the matrix does not have are not written.
const uint8_t* panel_of_twelve(const Tier& tier, const GrusMatrix& m, const GrusTwelve& from, int64_t panel, uint8_t* room);
void row_of_twelve(const Tier& tier, const GrusMatrix& m, const GrusTwelve& from, int64_t row, float* out);

}  // namespace grus
