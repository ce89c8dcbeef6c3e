// Lossless 12-bit bf16 (bf12): nearly all exponents of a row fall into fifteen neighbouring values, so a number is stored as its sign
// and fraction (one byte) and a 4-bit exponent code: 0 is exponent 0, code c is the row's base + c. The few numbers with other
// exponents (outliers) are stored separately and are put in place after decoding.
#pragma once
#include <cstdint>

extern "C" {
struct GrusBf12Outlier {
    int32_t column;
    uint16_t row, bits;  // the row within its panel
};

struct GrusBf12 {
    const uint8_t* rows;    // [row][blocks of 128 columns][128 signs and fractions, 64 times the codes of columns i and 64 + i]
    const uint8_t* bases;   // [row]
    const int64_t* starts;  // [panels + 1]
    const GrusBf12Outlier* outliers;     // panel after panel
};
}

struct GrusMatrix;

namespace grus {

struct Tier;

constexpr int64_t kBf12Columns = 128, kBf12Bytes = 192;  // of a block

// Where a column's byte lies among its 64: an instruction that takes bytes of two registers in turn takes the first half of each
// sixteen, and another one the second, so each makes 32 columns that follow one another.
constexpr int bf12_position(int column) { return column % 32 / 8 * 16 + column / 32 * 8 + column % 8; }

inline int64_t bf12_blocks(int64_t columns) { return (columns + kBf12Columns - 1) / kBf12Columns; }
inline int64_t bf12_row_bytes(int64_t columns) { return bf12_blocks(columns) * kBf12Bytes; }
// From one row of a panel of bf16 to the next. Not a power of two, or sixteen rows would compete for one place in a cache.
inline int64_t bf12_panel_stride(int64_t columns) { return bf12_blocks(columns) * kBf12Columns * 2 + 64; }

// A panel as rows of bf16, `bf12_panel_stride` apart, in `room`; rows that the matrix does not have are not written.
const uint8_t* bf12_panel(const Tier& tier, const GrusMatrix& m, const GrusBf12& from, int64_t panel, uint8_t* room);
void bf12_row(const Tier& tier, const GrusMatrix& m, const GrusBf12& from, int64_t row, float* out);

}  // namespace grus
