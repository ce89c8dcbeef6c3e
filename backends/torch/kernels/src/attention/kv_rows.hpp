// Layout of the KV cache: rows of floats, or of 8-bit or 4-bit codes with `value = code * scale + least`, where scale and least are
// f16, one pair per group of a row's numbers. Two 4-bit codes share a byte; the earlier one is in the low half.
#pragma once
#include <cstdint>

namespace grus {

enum class KVDtype : int32_t { F32, F16, BF16, Int8, Int4 };
constexpr bool is_codes(KVDtype type) { return type == KVDtype::Int8 || type == KVDtype::Int4; }

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
