// Quantization of f32 rows into GGUF blocks, as a file stores them: for loading, for converting, and for MLX.
#include "formats/quantizers.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "arch/dispatch.hpp"
#include "common/compiler.hpp"
#include "common/half_float.hpp"
#include "common/thread_pool.hpp"
#include "formats/dequantizers.hpp"
#include "formats/matrix.hpp"

namespace grus {
namespace {

constexpr float kMost = 1e8f;  // a weight beyond this fits no block; below it no sum overflows

// A block that cannot be written holds no number, so that products say so.
void not_a_number(uint8_t* out, int bytes, int scale_at) {
    std::memset(out, 0, static_cast<size_t>(bytes));
    const uint16_t nan = 0x7e00;
    std::memcpy(out + scale_at, &nan, 2);
}

namespace any_cpu {
#include "formats/k_quantizers.inl"
}

#if defined(__x86_64__) && !defined(_MSC_VER)
TARGET_BEGIN("avx2")
namespace avx2 {
#include "formats/k_quantizers.inl"
}
TARGET_END
bool wide() { return &current_tier() != scalar_tier(); }  // every tier above scalar has AVX2
#else
namespace avx2 = any_cpu;
bool wide() { return false; }
#endif

void put_q8_0(const Block& block, uint8_t* out) {
    const uint16_t scale = static_cast<uint16_t>(block.scale);
    std::memcpy(out, &scale, 2);
    std::memcpy(out + 2, block.codes, kBlock);
}

void put_q4_0(const Block& block, uint8_t* out) {
    const uint16_t scale = static_cast<uint16_t>(block.scale);
    std::memcpy(out, &scale, 2);
    for (int i = 0; i < 16; ++i) out[2 + i] = static_cast<uint8_t>(block.codes[i] | block.codes[i + 16] << 4);
}

void encode_row(SourceFormat kind, const float* x, int64_t columns, uint8_t* out) {
    Block block{};
    switch (kind) {
        case SourceFormat::Q8_0:
            for (int64_t c = 0; c < columns; c += kBlock, out += 34) quantize_q8_0(x + c, block), put_q8_0(block, out);
            return;
        case SourceFormat::Q4_0:
            for (int64_t c = 0; c < columns; c += kBlock, out += 18) quantize_q4_0(x + c, block), put_q4_0(block, out);
            return;
        case SourceFormat::Q4_K:
            for (int64_t c = 0; c < columns; c += kSuper, out += kQ4KBytes) encode_q4_k(x + c, out);
            return;
        case SourceFormat::Q6_K:
            for (int64_t c = 0; c < columns; c += kSuper, out += kQ6KBytes) encode_q6_k(x + c, out);
            return;
        default: return;
    }
}

}  // namespace

void encode_q4_k(const float* x, uint8_t* out) { wide() ? avx2::q4_k(x, out) : any_cpu::q4_k(x, out); }
void encode_q6_k(const float* x, uint8_t* out) { wide() ? avx2::q6_k(x, out) : any_cpu::q6_k(x, out); }

}  // namespace grus

using namespace grus;

// `rows` rows of F32, F16 or BF16 (`source`) as blocks of `kind`, which must divide the columns. False: no such kinds.
extern "C" GRUS_API int32_t grus_encode(int32_t source, const uint8_t* data, int64_t rows, int64_t columns, int32_t kind,
                                        uint8_t* out, int32_t threads) {
    const SourceFormat from = static_cast<SourceFormat>(source), to = static_cast<SourceFormat>(kind);
    const bool known = to == SourceFormat::Q8_0 || to == SourceFormat::Q4_0 || to == SourceFormat::Q4_K || to == SourceFormat::Q6_K;
    if (from > SourceFormat::BF16 || !known) return 0;
    const int64_t in_bytes = source_row_bytes(from, columns), out_bytes = source_row_bytes(to, columns);
    parallel(rows, 1, threads, [&](int64_t begin, int64_t end) {
        std::vector<float> x(static_cast<size_t>(columns));
        for (int64_t row = begin; row < end; ++row) {
            read_floats(from, data + row * in_bytes, 0, columns, x.data());
            encode_row(to, x.data(), columns, out + row * out_bytes);
        }
    });
    return 1;
}
