// How keys and values of past tokens lie in memory: as floats, or as codes of eight or four bits, `value = code * scale + least`
// with both in f16 for each group of a row's numbers. Two codes of four bits lie in a byte, the earlier one in its low half.
#pragma once
#include <cstdint>

namespace grus {

enum class KVDtype : int32_t { F32, F16, BF16, Int8, Int4 };

// Rows of one head, one behind the other.
struct KVRows {
    KVDtype type;
    int64_t dim, group;
    uint8_t* data;
    uint8_t* params;  // of codes: [row][group][scale, least]; may lie at any address

    int64_t row_bytes() const {
        switch (type) {
            case KVDtype::F32: return 4 * dim;
            case KVDtype::Int8: return dim;
            case KVDtype::Int4: return dim / 2;
            default: return 2 * dim;
        }
    }
    KVRows from(int64_t row) const {
        return {type, dim, group, data + row * row_bytes(), params ? params + row * (dim / group) * 4 : nullptr};
    }
    // Floats can be read where they lie.
    const float* floats() const { return type == KVDtype::F32 ? reinterpret_cast<const float*>(data) : nullptr; }
};

}  // namespace grus
