// A packed matrix, as Python holds it. The layout of the struct is part of the interface (library.py).
#pragma once
#include <cstdint>

#include "layout.hpp"

#if defined(_WIN32)
#define GRUS_API __declspec(dllexport)
#else
#define GRUS_API __attribute__((visibility("default")))
#endif

extern "C" {
struct GrusMatrix {
    grus::Format format;
    int64_t experts, rows, columns;  // rows of one expert
    uint8_t* data;
    const float* bias;  // experts * rows rounded up to 16, or null
    int64_t row_bytes;  // 0: packed in panels; else a dense matrix whose rows lie as in a file, this far apart
};
}

namespace grus {
inline int64_t panels_of(const GrusMatrix& m) { return (m.rows + kRows - 1) / kRows; }
inline uint8_t* panel_at(const GrusMatrix& m, const Panel& p, int64_t expert, int64_t panel) {
    return m.data + (expert * panels_of(m) + panel) * p.bytes;
}
}  // namespace grus
