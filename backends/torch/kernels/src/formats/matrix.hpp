// Weight matrices as the C ABI passes them (library.py), and access to their panels.
#pragma once
#include <cstdint>

#include "formats/bf16_12bit.hpp"
#include "formats/layout.hpp"

// Only Microsoft's compiler needs to be told. MinGW's exports what is visible, and does not allow `dllexport` where a function has
// variables of a thread.
#if defined(_MSC_VER)
#define GRUS_API __declspec(dllexport)
#else
#define GRUS_API __attribute__((visibility("default")))
#endif

extern "C" {
// Rows of blocks in a file that are rows first .. first + rows of each expert.
struct GrusStoredRows {
    int64_t first, rows;
    const uint8_t* data;   // expert after expert
    const int64_t* order;  // null, or: row i is the file's row order[i]
    int32_t source;        // a grus::SourceFormat
    const float* factors;  // null, or: of each expert, what NVFP4's scales are multiplied with
};

struct GrusMatrix {
    grus::Format format;
    int64_t experts, rows, columns;  // rows of one expert
    uint8_t* data;
    const float* bias;  // experts * rows rounded up to 16, or null
    int64_t row_bytes;  // 0: packed in panels; else a dense matrix whose rows lie as in a file, this far apart
    const GrusStoredRows* stored;  // of a matrix that is packed while it is used
    int64_t stored_count;
    const GrusBf12* bf12;  // of bf16 whose rows lie here instead, in fewer bits; set at any time
    int64_t unpacked;  // panels, the last ones: they are made from `stored`, each when it is needed
    const GrusMatrix* halves;  // of f32 rows that are bf16: the same numbers as such, which few tokens read; set at any time
    bool f32_inputs;  // of such halves: inputs are not rounded to bf16
    const uint8_t* const* kept;  // null, or of each expert that stays in its file: its panels where they are kept packed, else null
    uint32_t* uses;  // null, or of each expert: how often it was asked for; see `ask_for_rows`
};
}

namespace grus {
inline int64_t panels_of(const GrusMatrix& m) { return (m.rows + kRows - 1) / kRows; }
inline uint8_t* panel_at(const GrusMatrix& m, const Panel& p, int64_t expert, int64_t panel) {
    return m.data + (expert * panels_of(m) + panel) * p.bytes;
}

// A panel where it is packed, or made in `room` (p.bytes) from what is stored.
const uint8_t* panel_of(const GrusMatrix& m, const Panel& p, int64_t expert, int64_t panel, uint8_t* room);

// An expert's rows will be read. Where they are to stay in their file this is counted, and the system is asked for them, unless they are
// kept packed: the disk brings them while others are computed.
void ask_for_rows(const GrusMatrix& m, int64_t expert);
}  // namespace grus
