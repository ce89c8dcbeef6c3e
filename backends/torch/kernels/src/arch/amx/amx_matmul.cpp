// AMX (Intel servers since Sapphire Rapids): matrix products, sixteen rows by sixteen tokens per instruction.
//
// Quantized panels are unpacked to one byte per code, without their offset. Block sums leave the unit as integers, so the scaling
// that follows gives the same bits as the vector kernels. bf16 rows are read in place; activations are rearranged for the unit.
#include "arch/tier.hpp"

#include "arch/amx/amx.hpp"

#if defined(GRUS_AMX)
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/compiler.hpp"
#include "common/half_float.hpp"

TARGET_BEGIN(GRUS_AMX_TARGET)
namespace grus {
namespace {

#include "arch/avx512/lanes512.inl"
#include "formats/block_reader.inl"
#include "arch/amx/transpose.inl"
#include "formats/bf16_12bit.inl"

constexpr int kLanes = kUnitTokens;
static_assert(kLanes == kRows);

// Registers 0 to 3 hold sums, 4 and 5 the left side, 6 and 7 the right one.
struct alignas(64) Shapes {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t bytes[16] = {};
    uint8_t rows[16] = {};

    Shapes(int left_bytes, int left_rows) {
        for (int i = 0; i < 8; ++i) {
            bytes[i] = i == 4 || i == 5 ? static_cast<uint16_t>(left_bytes) : 64;
            rows[i] = static_cast<uint8_t>(i >= 6 ? left_bytes / 4 : left_rows);
        }
    }
};

// Bytes of a row that are multiplied at once, and how many rows the left side has.
void begin(int bytes, int rows) {
    static const Shapes shapes[3][3] = {  // static: compilers do not see that all of it is read
        {{64, 16}, {64, 8}, {64, 4}}, {{32, 16}, {32, 8}, {32, 4}}, {{16, 16}, {16, 8}, {16, 4}}};
    _tile_loadconfig(&shapes[bytes == 64 ? 0 : bytes == 32 ? 1 : 2][rows == 16 ? 0 : rows == 8 ? 1 : 2]);
}
void end() { _tile_release(); }

template <Code C>
void unpack(const uint8_t* codes, int64_t blocks, int offset, const int8_t* values, uint8_t* to) {
    Tile in{};
    in.values = values;
    const __m512i low = _mm512_set1_epi8(static_cast<char>(offset)), top = _mm512_set1_epi8(-128);
    for (int64_t b = 0; b < blocks; ++b, codes += code_bytes(C), to += kRows * kBlock) {
        unrolled<8>([&](auto group) INLINE_LAMBDA {
            constexpr int g = decltype(group)::value;
            __m512i v = Reader<C>::template get<g>(in, codes).v;
            if constexpr (Reader<C>::is_signed) v = _mm512_xor_si512(v, top);  // what `get` added
            _mm512_store_si512(to + 64 * g, _mm512_sub_epi8(v, low));
        });
    }
}

// A product takes some fifty cycles to come out of the unit. So it is begun three steps before it is used, a step being a block
// or half of one, and stored one step before; what lies between keeps the vector units busy.
template <bool Signed, int Halves, bool Minima, int N, bool Stored>
struct Product {
    static constexpr int words = notes_per_block(Halves);
    const UnitTile& in;
    const int64_t steps = in.blocks * Halves;
    Scales<Halves, Minima, Stored> scales{};

    const int8_t* left(int64_t step) const {
        return in.act.codes + step / Halves * (N * kBlock) + step % Halves * (kBlock / Halves);
    }
    const uint8_t* right(int64_t step) const { return in.bytes + step * (kRows * kBlock / Halves); }

    INLINE void use(int64_t step, const int32_t* sums, Floats (&acc)[N]) {
        const float* notes = in.act.notes + step / Halves * (N * words);
        Floats ws, wm;
        scales.take(step / Halves, static_cast<int>(step % Halves), ws, wm);
        unrolled<N>([&](auto token) INLINE_LAMBDA {
            constexpr int t = decltype(token)::value;
            acc[t] = fma(to_floats({_mm512_load_si512(sums + t * kRows)}), mul(ws, broadcast(notes + words * t)), acc[t]);
        });
        if constexpr (Minima) {
            const float* factors = notes + 1 + Halves + step % Halves;
            unrolled<N>([&](auto token) INLINE_LAMBDA {
                constexpr int t = decltype(token)::value;
                acc[t] = fma(wm, broadcast(factors + words * t), acc[t]);
            });
        }
    }

    // Prefetches what is read after this panel, or after these bytes.
    INLINE void prefetch(int64_t step) const {
        if (!in.prefetch || step % Halves) return;
        const uint8_t* from = in.prefetch + step / Halves * in.prefetch_bytes;
        for (int64_t at = 0; at < in.prefetch_bytes; at += 64) PREFETCH(from + at);
    }

    // Registers are part of an instruction's text.
#define GRUS_BEGIN(C, A, B, step)                         \
    if ((step) < steps) {                                 \
        prefetch(step);                                        \
        _tile_zero(C);                                    \
        _tile_loadd(A, left(step), kBlock);               \
        _tile_loadd(B, right(step), 64);                  \
        if constexpr (Signed) { _tile_dpbssd(C, A, B); }  \
        else { _tile_dpbsud(C, A, B); }                   \
    }
    INLINE void run() {
        alignas(64) int32_t made[4][N * kRows];
        Floats acc[N];
        scales.begin(in.scales, in.panel, in.layout);
        unrolled<N>([&](auto t) INLINE_LAMBDA { acc[decltype(t)::value] = zeros(); });
        GRUS_BEGIN(0, 4, 6, 0)
        GRUS_BEGIN(1, 5, 7, 1)
        GRUS_BEGIN(2, 4, 6, 2)
        _tile_stored(0, made[0], 64);
        for (int64_t step = 0; step < steps; step += 4) {
            GRUS_BEGIN(3, 5, 7, step + 3)
            _tile_stored(1, made[1], 64);
            use(step, made[0], acc);
            GRUS_BEGIN(0, 4, 6, step + 4)
            _tile_stored(2, made[2], 64);
            if (step + 1 < steps) use(step + 1, made[1], acc);
            GRUS_BEGIN(1, 5, 7, step + 5)
            _tile_stored(3, made[3], 64);
            if (step + 2 < steps) use(step + 2, made[2], acc);
            GRUS_BEGIN(2, 4, 6, step + 6)
            _tile_stored(0, made[0], 64);
            if (step + 3 < steps) use(step + 3, made[3], acc);
        }
        unrolled<N>([&](auto t) INLINE_LAMBDA { store(in.out + kRows * decltype(t)::value, acc[decltype(t)::value]); });
    }
#undef GRUS_BEGIN
};

template <bool Signed, int Halves, bool Minima, int N, bool Stored>
void multiply(const UnitTile& in) {
    Product<Signed, Halves, Minima, N, Stored>{in}.run();
}

// Few tokens wait for memory, which is read best in two places at once: two panels side by side, of bytes and scales as they are
// stored. A step's products are begun before the last ones' are stored, and used after the next ones are begun.
template <int N>
struct Pair {
    static constexpr int words = notes_per_block(1);
    const UnitTile &one, &other;
    const int64_t steps = one.blocks;
    Scales<1, false, true> scales[2]{};

    INLINE void use(int64_t step, const int32_t (&made)[2][N * kRows], Floats (&acc)[2][N]) {
        const float* notes = one.act.notes + step * (N * words);
        unrolled<2>([&](auto panel) INLINE_LAMBDA {
            constexpr int p = decltype(panel)::value;
            Floats ws, none;
            scales[p].take(step, 0, ws, none);
            unrolled<N>([&](auto token) INLINE_LAMBDA {
                constexpr int t = decltype(token)::value;
                const Floats sums = to_floats({_mm512_load_si512(made[p] + t * kRows)});
                acc[p][t] = fma(sums, mul(ws, broadcast(notes + words * t)), acc[p][t]);
            });
        });
    }

    static INLINE void prefetch(const UnitTile& in, int64_t step) {
        if (!in.prefetch) return;
        for (int64_t at = 0; at < kRows * kBlock; at += 64) PREFETCH(in.prefetch + step * (kRows * kBlock) + at);
    }

#define GRUS_BEGIN_TWO(A, C, D, step)                                     \
    if ((step) < steps) {                                                 \
        prefetch(one, step);                                                   \
        prefetch(other, step);                                                 \
        _tile_zero(C);                                                    \
        _tile_zero(D);                                                    \
        _tile_loadd(A, one.act.codes + (step) * (N * kBlock), kBlock);    \
        _tile_loadd(6, one.bytes + (step) * (kRows * kBlock), 64);        \
        _tile_loadd(7, other.bytes + (step) * (kRows * kBlock), 64);      \
        _tile_dpbssd(C, A, 6);                                            \
        _tile_dpbssd(D, A, 7);                                            \
    }
    INLINE void run() {
        alignas(64) int32_t made[2][2][N * kRows];
        Floats acc[2][N];
        for (int p = 0; p < 2; ++p) scales[p].begin(nullptr, (p ? other : one).panel, (p ? other : one).layout);
        unrolled<2 * N>([&](auto i) INLINE_LAMBDA { acc[decltype(i)::value / N][decltype(i)::value % N] = zeros(); });
        GRUS_BEGIN_TWO(4, 0, 1, 0)
        for (int64_t step = 0; step < steps; step += 2) {
            GRUS_BEGIN_TWO(5, 2, 3, step + 1)
            _tile_stored(0, made[0][0], 64);
            _tile_stored(1, made[0][1], 64);
            if (step) use(step - 1, made[1], acc);
            GRUS_BEGIN_TWO(4, 0, 1, step + 2)
            if (step + 1 < steps) {
                _tile_stored(2, made[1][0], 64);
                _tile_stored(3, made[1][1], 64);
            }
            use(step, made[0], acc);
        }
        if (steps % 2 == 0) use(steps - 1, made[1], acc);
        for (int p = 0; p < 2; ++p)
            unrolled<N>([&](auto t) INLINE_LAMBDA {
                store((p ? other : one).out + kRows * decltype(t)::value, acc[p][decltype(t)::value]);
            });
    }
#undef GRUS_BEGIN_TWO
};

void multiply_pair(const UnitTile& one, const UnitTile& other) { Pair<kUnitPair>{one, other}.run(); }

void arrange(const float* x, int64_t stride, int tokens, int64_t columns, uint16_t* to) {
    for (int64_t c = 0; c < columns; c += kBlock, to += kBlock * kLanes) {
        const int64_t left = columns - c < kBlock ? columns - c : kBlock;
        const uint32_t mask = left == kBlock ? 0xffffffffu : (1u << left) - 1;
        __m512i v[16];
        for (int t = 0; t < kLanes; ++t) {
            v[t] = _mm512_setzero_si512();
            if (t >= tokens) continue;
            const float* row = x + t * stride + c;
            const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), row);
            const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), row + 16);
            const __m512bh both = _mm512_cvtne2ps_pbh(high, low);
            std::memcpy(&v[t], &both, 64);
        }
        transpose_16x16(v);
        for (int i = 0; i < 16; ++i) _mm512_store_si512(to + 32 * i, v[i]);
    }
}

template <int N>
INLINE void no_sums() {
    _tile_zero(0);
    if constexpr (N > 1) { _tile_zero(1); }
    if constexpr (N > 2) { _tile_zero(2); }
    if constexpr (N > 3) { _tile_zero(3); }
}

// Adds the products of sixteen rows' next 32 columns.
template <int N>
INLINE void add_products(const void* rows, int64_t row_bytes, const uint16_t* x, int64_t x_tile) {
    _tile_loadd(4, rows, row_bytes);
    _tile_loadd(6, x, 64);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (N > 1) {
        _tile_loadd(7, x + x_tile, 64);
        _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (N > 2) {
        _tile_loadd(6, x + 2 * x_tile, 64);
        _tile_dpbf16ps(2, 4, 6);
    }
    if constexpr (N > 3) {
        _tile_loadd(7, x + 3 * x_tile, 64);
        _tile_dpbf16ps(3, 4, 7);
    }
}

template <int N>
INLINE void put_sums(const UnitRows& in) {
    alignas(64) float made[4][kLanes * kRows];
    _tile_stored(0, made[0], 64);
    if constexpr (N > 1) { _tile_stored(1, made[1], 64); }
    if constexpr (N > 2) { _tile_stored(2, made[2], 64); }
    if constexpr (N > 3) { _tile_stored(3, made[3], 64); }
    for (int n = 0; n < N; ++n) {
        __m512i v[16];
        for (int r = 0; r < kRows; ++r) v[r] = _mm512_load_si512(made[n] + r * kLanes);
        transpose_16x16(v);
        for (int t = 0; t < kLanes && n * kLanes + t < in.tokens; ++t)
            _mm512_storeu_si512(in.out + (n * kLanes + t) * kRows, v[t]);
    }
}

template <int N>
INLINE void rows_times(const UnitRows& in) {
    no_sums<N>();
    const uint8_t* ahead = in.next;
    for (int64_t c = 0; c < in.blocks; ++c) {
        add_products<N>(in.data + c * 64, in.row_bytes, in.x + c * kBlock * kLanes, in.x_tile);
        if (ahead) {  // in the order in which they lie, or memory would be read in sixteen places at once
            for (int i = 0; i < 16; ++i) PREFETCH_FAR(ahead + 64 * i);
            ahead += 1024;
        }
    }
    put_sums<N>(in);
}

constexpr int64_t kTogether = 4;  // 12-bit blocks of each row whose bf16 stay in the first-level cache until they are multiplied

// 12-bit rows become bf16 a few columns at a time. The next columns are prefetched during the products: during decoding,
// the prefetches would wait in the same queue as the loads.
template <int N>
INLINE void multiply_bf12(const UnitRows& in) {
    constexpr int64_t blocks_each = kBf12Columns / kBlock;
    const int64_t all = (in.blocks + blocks_each - 1) / blocks_each, together = all < kTogether ? all : kTogether;
    const int64_t stride = together * kBf12Columns + 32;  // a line's gap: not a power of two
    Exponents exponents[kRows];
    for (int64_t r = 0; r < in.rows; ++r) exponents[r] = exponents_of(in.bases[r]);
    for (int64_t r = in.rows; r < kRows; ++r) std::memset(in.room + r * stride, 0, static_cast<size_t>(stride) * 2);
    no_sums<N>();
    for (int64_t first = 0; first < all; first += together) {
        const int64_t many = all - first < together ? all - first : together;
        for (int64_t r = 0; r < in.rows; ++r) {
            const uint8_t* from = in.data + r * in.row_bytes + first * kBf12Bytes;
            uint16_t* to = in.room + r * stride;
            for (int64_t b = 0; b < many; ++b, from += kBf12Bytes, to += kBf12Columns) {
                decode_bf12_block(from, exponents[r], to);
            }
        }
        for (const GrusBf12Outlier* outlier = in.outliers; outlier != in.outliers_end; ++outlier) {
            const int64_t column = outlier->column - first * kBf12Columns;
            if (column >= 0 && column < many * kBf12Columns) in.room[outlier->row * stride + column] = outlier->bits;
        }
        const uint8_t* ahead = first + together < all ? in.data + (first + together) * kBf12Bytes : in.next;
        const int64_t from = first * blocks_each, steps = std::min(many * blocks_each, in.blocks - from);
        for (int64_t step = 0; step < steps; ++step) {
            add_products<N>(in.room + step * kBlock, stride * 2, in.x + (from + step) * kBlock * kLanes, in.x_tile);
            for (int64_t r = step; ahead && r < in.rows; r += steps)
                for (int64_t at = 0; at < together * kBf12Bytes; at += 64) PREFETCH_FAR(ahead + r * in.row_bytes + at);
        }
    }
    put_sums<N>(in);
}

template <int N>
void rows_of(const UnitRows& in) { in.bases ? multiply_bf12<N>(in) : rows_times<N>(in); }

void rows(const UnitRows& in) {
    switch ((in.tokens + kLanes - 1) / kLanes) {
        case 1: return rows_of<1>(in);
        case 2: return rows_of<2>(in);
        case 3: return rows_of<3>(in);
        default: return rows_of<4>(in);
    }
}

template <Code C>
void fill(MatrixUnit& unit) { unit.unpack[static_cast<int>(C)] = unpack<C>; }

template <bool Signed>
void fill_products(MatrixUnit& unit) {
    unit.multiply[Signed][0][0] = multiply<Signed, 1, false, 16, false>;
    unit.multiply[Signed][0][1] = multiply<Signed, 1, true, 16, false>;
    unit.multiply[Signed][1][0] = multiply<Signed, 2, false, 16, false>;
    unit.multiply[Signed][1][1] = multiply<Signed, 2, true, 16, false>;
}

MatrixUnit make_unit() {
    MatrixUnit unit{};
    unit.begin = begin;
    unit.end = end;
    unit.arrange = arrange;
    unit.rows = rows;
    unit.conv = amx_conv();
    unit.bf16x3 = amx_bf16x3();
    unit.prompts = amx_prompts();
    fill<Code::S8>(unit);
    fill<Code::U6>(unit);
    fill<Code::U5>(unit);
    fill<Code::U4>(unit);
    fill<Code::U3>(unit);
    fill<Code::U2>(unit);
    fill<Code::U1>(unit);
    fill<Code::L4>(unit);
    fill<Code::L3>(unit);
    fill_products<false>(unit);
    fill_products<true>(unit);
    unit.few[0][0] = multiply<true, 1, false, 4, false>;
    unit.few[0][1] = multiply<true, 1, false, 8, false>;
    unit.few[1][0] = multiply<true, 1, false, 4, true>;
    unit.few[1][1] = multiply<true, 1, false, 8, true>;
    unit.pair = multiply_pair;
    return unit;
}

}  // namespace
}  // namespace grus
TARGET_END

namespace grus {
const MatrixUnit* amx_unit() {
    static const MatrixUnit unit = make_unit();
    return &unit;
}
}  // namespace grus
#else
namespace grus {
const MatrixUnit* amx_unit() { return nullptr; }
}  // namespace grus
#endif
