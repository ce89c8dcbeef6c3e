// Packing of a file's rows into panels: a whole matrix at once, or a single panel when a product needs it. Also unpacks single rows.
#include <algorithm>
#include <atomic>
#include <cstring>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

#include "common/compiler.hpp"
#include "common/half_float.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "formats/dequantizers.hpp"
#include "formats/matrix.hpp"
#include "formats/quantizers.hpp"

namespace grus {
namespace {

uint32_t four_at(const uint8_t* from) {
    uint32_t v;
    std::memcpy(&v, from, 4);
    return v;
}

constexpr uint32_t in_each_byte(int mask) { return static_cast<uint32_t>(mask) * 0x01010101u; }

constexpr int kChunk = 8;  // blocks that are packed of a row before the next row's: their panel stays in the first cache

// Codes of one row of a block in the order of their bit planes: what lies together in its lane, four bytes a vector.
template <Plane P>
void to_plane(const uint8_t* codes, uint8_t* to) {
    for (int v = 0; v < P.bits; ++v) {
        uint32_t four = 0;
        for (int turn = 0; turn * P.bits < 8; ++turn) {
            uint32_t quad = four_at(codes + kQuad * (turn * P.bits + v));
            four |= ((quad >> P.place) & in_each_byte((1 << P.bits) - 1)) << turn * P.bits;
        }
        std::memcpy(to + P.start / kRows + kQuad * v, &four, 4);
    }
}

template <Code C>
void in_planes(uint8_t* codes) {
    if constexpr (C != Code::S8) {
        uint8_t planes[kBlock] = {};
        to_plane<Planes<C>::low>(codes, planes);
        to_plane<Planes<C>::high>(codes, planes);
        std::memcpy(codes, planes, sizeof planes);
    }
}

template <Plane P>
void get_plane(const uint8_t* from, uint8_t* codes, int lane) {
    if constexpr (P.bits > 0) {
        for (int g = 0; g < kBlock / kQuad; ++g) {
            uint32_t four = four_at(from + P.start + 64 * (g % P.bits) + kQuad * lane) >> P.bits * (g / P.bits);
            four = four_at(codes + kQuad * g) | (four & in_each_byte((1 << P.bits) - 1)) << P.place;
            std::memcpy(codes + kQuad * g, &four, 4);
        }
    }
}

template <Code C>
void get_planes(const uint8_t* from, uint8_t* codes, int lane) {
    std::memset(codes, 0, kBlock);
    get_plane<Planes<C>::low>(from, codes, lane);
    get_plane<Planes<C>::high>(from, codes, lane);
}

void get_codes(Code code, const uint8_t* from, uint8_t* codes, int lane) {
    switch (code) {
        case Code::S8:
            for (int g = 0; g < 8; ++g) std::memcpy(codes + 4 * g, from + 64 * g + 4 * lane, 4);
            return;
        case Code::U6: return get_planes<Code::U6>(from, codes, lane);
        case Code::U5: return get_planes<Code::U5>(from, codes, lane);
        case Code::U3: case Code::L3: return get_planes<Code::U3>(from, codes, lane);
        case Code::U2: return get_planes<Code::U2>(from, codes, lane);
        case Code::U1: return get_planes<Code::U1>(from, codes, lane);
        default: return get_planes<Code::U4>(from, codes, lane);
    }
}

void put_scale(ScaleType type, uint8_t* region, int64_t group, int lane, uint32_t bits) {
    const int64_t at = group * kRows + lane;
    if (type == ScaleType::F32) std::memcpy(region + at * 4, &bits, 4);
    else if (type == ScaleType::E8M0) region[at] = static_cast<uint8_t>(bits);
    else std::memcpy(region + at * 2, &bits, 2);
}

float get_scale(ScaleType type, const uint8_t* region, int64_t group, int lane) {
    uint32_t bits = 0;
    std::memcpy(&bits, region + (group * kRows + lane) * scale_bytes(type), scale_bytes(type));
    if (type == ScaleType::F32) return as_float(bits);
    if (type == ScaleType::E8M0) return half_of_e8m0(static_cast<uint8_t>(bits));
    return type == ScaleType::F16 ? from_f16(static_cast<uint16_t>(bits)) : from_bf16(static_cast<uint16_t>(bits));
}

// A dense format holds what the file holds. `Unit`: neighbouring columns that stay together, two of bf16 and one of others.
template <class Unit>
void pack_dense_row(uint8_t* to, int lane, const uint8_t* row, int64_t row_bytes, int64_t units) {
    constexpr int64_t size = sizeof(Unit);
    const int64_t whole = row_bytes / size;
    for (int64_t u = 0; u < whole; ++u) std::memcpy(to + (u * kRows + lane) * size, row + u * size, size);
    for (int64_t u = whole; u < units; ++u) {
        Unit rest{};
        if (u * size < row_bytes) std::memcpy(&rest, row + u * size, static_cast<size_t>(row_bytes - u * size));
        std::memcpy(to + (u * kRows + lane) * size, &rest, size);
    }
}

// Floats of eight bits: column after column, as other dense formats, but with scales.
void pack_f8_row(const GrusMatrix& m, const Panel& p, uint8_t* panel, int lane, SourceFormat source, const uint8_t* row) {
    Block block{};
    for (int64_t b = 0; b < p.blocks; ++b) {
        read_block(source, row, b, block);
        for (int i = 0; i < kBlock; ++i) panel[p.codes + (b * kBlock + i) * kRows + lane] = block.codes[i];
        if (b % p.blocks_per_scale == 0) put_scale(m.format.scale, panel, b / p.blocks_per_scale, lane, block.scale);
    }
}

float from_e4m3(uint8_t code) { return from_f16(static_cast<uint16_t>(static_cast<int8_t>(code) * 128) & 0xbf80) * 256.0f; }

struct Input {
    SourceFormat source;
    const uint8_t* data;
    int64_t row_bytes;
    AffineParts affine;
    float factor = 1.0f;
};

// Floats become blocks of the format on the way: of K-quants, eight at once, kept in `super`.
template <Code C>
void encode_block(const GrusMatrix& m, const Input& in, const uint8_t* bytes, int64_t b, uint8_t* super, Block& block) {
    if (m.format.block_scales != BlockScales::None) {
        if (b % (kSuper / kBlock) == 0) {
            float x[kSuper];
            read_floats(in.source, bytes, b * kBlock, kSuper, x);
            if (C == Code::U4) encode_q4_k(x, super);
            else encode_q6_k(x, super);
        }
        read_planes(C == Code::U4 ? SourceFormat::Q4_K : SourceFormat::Q6_K, super, b % (kSuper / kBlock), block);
        return;
    }
    float x[kBlock] = {};
    read_floats(in.source, bytes, b * kBlock, std::min<int64_t>(kBlock, m.columns - b * kBlock), x);
    if (C == Code::S8) quantize_q8_0(x, block);
    else quantize_q4_0(x, block);
    in_planes<C>(block.codes);
}

// Block `b` of a row, with its codes in planes.
template <Code C>
void block_of(const GrusMatrix& m, const Input& in, int64_t row, int64_t b, uint8_t* super, Block& block) {
    const uint8_t* bytes = in.data + row * in.row_bytes;
    if (read_planes(in.source, bytes, b, block)) return;
    if (in.source < SourceFormat::Affine) return encode_block<C>(m, in, bytes, b, super, block);
    if (in.source == SourceFormat::Affine) read_affine_block(in.affine, bytes, row, b, block);
    else read_block(in.source, bytes, b, block);
    if (in.source == SourceFormat::NVFP4) block.scale = as_bits(in.factor);
    in_planes<C>(block.codes);
}

// Blocks [from, to) of a row. `from` is a multiple of kChunk, and so of the blocks that are encoded together.
template <Code C>
void pack_blocks(const GrusMatrix& m, const Panel& p, uint8_t* panel, int lane, const Input& in, int64_t row, int64_t from, int64_t to) {
    const Format& f = m.format;
    uint8_t* codes = panel + p.codes + from * code_bytes(C) + kQuad * lane;
    uint8_t *block_scales = panel + p.block_scales + from * f.halves * kRows + lane, *block_minima = panel + p.block_minima + lane;
    int64_t group = (from + f.blocks_per_scale - 1) / f.blocks_per_scale, next = group * f.blocks_per_scale;
    Block block{};
    uint8_t super[kQ6KBytes];
    for (int64_t b = from; b < to; ++b, codes += code_bytes(C)) {
        block_of<C>(m, in, row, b, super, block);
        for (int i = 0; i < code_bytes(C) / 64; ++i) std::memcpy(codes + 64 * i, block.codes + kQuad * i, kQuad);
        if (b == next) {
            put_scale(f.scale, panel, group, lane, block.scale);
            if (f.minima) put_scale(f.scale, panel + p.minima, group, lane, block.minimum);
            ++group;
            next += f.blocks_per_scale;
        }
        if (f.block_scales == BlockScales::None) continue;
        for (int h = 0; h < f.halves; ++h, block_scales += kRows) {
            const uint8_t minimum = block.block_minimum[h];
            *block_scales = block.block_scale[h];
            if (f.block_scales == BlockScales::FourBits) *block_scales |= static_cast<uint8_t>(minimum << 4);
            if (f.block_scales == BlockScales::SixBits) {
                *block_scales |= static_cast<uint8_t>((minimum & 0x30) << 2);
                uint8_t& low = block_minima[Panel::low_of_minimum(b)];
                low = static_cast<uint8_t>(Panel::is_upper(b) ? (low & 15) | minimum << 4 : minimum & 15);
            }
        }
    }
}

void pack_part(const GrusMatrix& m, const Panel& p, uint8_t* panel, int lane, const Input& in, int64_t row, int64_t from, int64_t to) {
    switch (m.format.code) {
        case Code::S8: return pack_blocks<Code::S8>(m, p, panel, lane, in, row, from, to);
        case Code::U6: return pack_blocks<Code::U6>(m, p, panel, lane, in, row, from, to);
        case Code::U5: return pack_blocks<Code::U5>(m, p, panel, lane, in, row, from, to);
        case Code::U3: case Code::L3: return pack_blocks<Code::U3>(m, p, panel, lane, in, row, from, to);
        case Code::U2: return pack_blocks<Code::U2>(m, p, panel, lane, in, row, from, to);
        case Code::U1: return pack_blocks<Code::U1>(m, p, panel, lane, in, row, from, to);
        default: return pack_blocks<Code::U4>(m, p, panel, lane, in, row, from, to);
    }
}

// Lanes [begin, end) of a panel from rows of one source; `row_at(lane)` says which, for lanes up to `known`.
template <class F>
void pack_lanes(const GrusMatrix& m, const Panel& p, uint8_t* panel, int begin, int end, int64_t known, const Input& in, const F& row_at) {
    const Code code = m.format.code;
    if (m.format.dense()) {
        for (int lane = begin; lane < end; ++lane) {
            const uint8_t* row = in.data + row_at(lane) * in.row_bytes;
            const int64_t columns = p.blocks * kBlock;
            if (code == Code::F8) pack_f8_row(m, p, panel, lane, in.source, row);
            else if (code == Code::F16) pack_dense_row<uint16_t>(panel + p.codes, lane, row, in.row_bytes, columns);
            else pack_dense_row<uint32_t>(panel + p.codes, lane, row, in.row_bytes, code == Code::F32 ? columns : columns / 2);
        }
        return;
    }
    for (int64_t from = 0; from < p.blocks; from += kChunk) {
        const int64_t to = std::min(p.blocks, from + kChunk);
        const int64_t first = from * in.row_bytes / p.blocks, last = to * in.row_bytes / p.blocks;
        for (int lane = begin; lane < end; ++lane) {
            pack_part(m, p, panel, lane, in, row_at(lane), from, to);
            if (lane + kRows >= known) continue;
            const uint8_t* then = in.data + row_at(lane + kRows) * in.row_bytes;  // sixteen rows side by side are too many
            for (int64_t at = first; at < last; at += 64) PREFETCH(then + at);    // for the processor to foresee them all
        }
    }
}

// Lanes [begin, end) of a panel from what is stored in a file.
void pack_stored(const GrusMatrix& m, const Panel& p, int64_t expert, int64_t panel, int begin, int end, uint8_t* to) {
    for (int64_t i = 0; i < m.stored_count; ++i) {
        const GrusStoredRows& s = m.stored[i];
        const int64_t first = panel * kRows - s.first;  // of this panel's rows among these
        const int64_t from = std::max<int64_t>(begin, -first), until = std::min<int64_t>(end, s.rows - first);
        if (from >= until) continue;
        Input in{static_cast<SourceFormat>(s.source), s.data, source_row_bytes(static_cast<SourceFormat>(s.source), m.columns), {}};
        in.data += expert * s.rows * in.row_bytes;
        if (s.factors) in.factor = s.factors[expert];
        pack_lanes(m, p, to, static_cast<int>(from), static_cast<int>(until), s.rows - first, in, [&](int64_t lane) {
            return s.order ? s.order[first + lane] : first + lane;
        });
    }
}

// Another thread may pack more meanwhile, so this is read once, and before the panels that it tells of.
bool is_packed(const GrusMatrix& m, int64_t expert, int64_t panel) {
    if (!m.stored) return true;
    const int64_t unpacked = *static_cast<const volatile int64_t*>(&m.unpacked);
    std::atomic_thread_fence(std::memory_order_acquire);
    return expert * panels_of(m) + panel < m.experts * panels_of(m) - unpacked;
}

struct BlockScale { float scale, minimum; };

// Of a block, or of a half of one.
BlockScale block_scale_of(const Format& f, const Panel& p, const uint8_t* panel, int64_t part, int lane) {
    const int step = panel[p.block_scales + part * kRows + lane];
    switch (f.block_scales) {
        case BlockScales::E4M3: return {from_f16(static_cast<uint16_t>((step & 0x7f) << 7)), 0};
        case BlockScales::Signed: return {static_cast<float>(static_cast<int8_t>(step)), 0};
        case BlockScales::FourBits: return {static_cast<float>(step & 15), static_cast<float>(step >> 4)};
        default: break;
    }
    const int low = panel[p.block_minima + Panel::low_of_minimum(part) + lane] >> (Panel::is_upper(part) ? 4 : 0) & 15;
    return {static_cast<float>(step & 63), static_cast<float>((step >> 6) << 4 | low)};
}

void row_of(const GrusMatrix& m, const Panel& p, const uint8_t* panel, int lane, float* out) {
    const Format& f = m.format;
    const uint8_t* codes = panel + p.codes;
    if (f.code == Code::F8) {
        for (int64_t c = 0; c < m.columns; ++c)
            out[c] = from_e4m3(codes[c * kRows + lane]) * get_scale(f.scale, panel, c / kBlock / p.blocks_per_scale, lane);
        return;
    }
    if (f.dense()) {
        const SourceFormat source = f.code == Code::F32 ? SourceFormat::F32 : f.code == Code::F16 ? SourceFormat::F16 : SourceFormat::BF16;
        for (int64_t c = 0; c < m.columns; ++c) {
            int64_t at = f.code == Code::BF16 ? (c / 2 * kRows + lane) * 2 + c % 2 : c * kRows + lane;
            read_floats(source, codes, at, 1, out + c);
        }
        return;
    }
    const int8_t* values = f.table ? values_of(f.table) : nullptr;
    for (int64_t b = 0; b < p.blocks; ++b) {
        uint8_t q[kBlock];
        get_codes(f.code, codes + b * code_bytes(f.code), q, lane);
        const int64_t group = b / f.blocks_per_scale;
        const float d = get_scale(f.scale, panel, group, lane);
        const float m0 = f.minima ? get_scale(f.scale, panel + p.minima, group, lane) : 0.0f;
        for (int i = 0; i < kBlock && b * kBlock + i < m.columns; ++i) {
            const int64_t part = b * f.halves + i * f.halves / kBlock;
            float scale = d, minimum = m0;
            if (f.block_scales != BlockScales::None) {
                const BlockScale step = block_scale_of(f, p, panel, part, lane);
                scale = d * p.unit * step.scale;
                if (f.minima) minimum = -(m0 * step.minimum);
            }
            int code = values ? values[q[i]] : f.code == Code::S8 ? static_cast<int8_t>(q[i]) : f.code == Code::U1 ? 2 * q[i] : q[i];
            out[b * kBlock + i] = scale * static_cast<float>(code - f.offset) + minimum;
        }
    }
}

}  // namespace

void ask_for_rows(const GrusMatrix& m, int64_t expert) {
    if (!m.stored || m.data) return;  // what is packed, or is being packed, has memory of its own
    if (m.uses) ++m.uses[expert];
#if defined(__unix__) || defined(__APPLE__)
    if (m.kept && m.kept[expert]) return;
    constexpr uintptr_t kPage = 1 << 14;  // of any system, or several
    for (int64_t i = 0; i < m.stored_count; ++i) {
        const GrusStoredRows& s = m.stored[i];
        const int64_t bytes = s.rows * source_row_bytes(static_cast<SourceFormat>(s.source), m.columns);
        const auto from = reinterpret_cast<uintptr_t>(s.data + expert * bytes), first = from / kPage * kPage;
        madvise(reinterpret_cast<void*>(first), from + static_cast<uintptr_t>(bytes) - first, MADV_WILLNEED);
    }
#endif
}

const uint8_t* panel_of(const GrusMatrix& m, const Panel& p, int64_t expert, int64_t panel, uint8_t* room) {
    if (is_packed(m, expert, panel)) return panel_at(m, p, expert, panel);
    if (m.kept && m.kept[expert]) return m.kept[expert] + panel * p.bytes;
    if (m.rows - panel * kRows < kRows) std::memset(room, 0, static_cast<size_t>(p.bytes));
    pack_stored(m, p, expert, panel, 0, kRows, room);
    return room;
}

}  // namespace grus

using namespace grus;

extern "C" {

GRUS_API int64_t grus_packed_bytes(const GrusMatrix* m) {
    return m->experts * panels_of(*m) * Panel(m->format, m->columns).bytes;
}

GRUS_API int64_t grus_source_row_bytes(int32_t source, int64_t columns) {
    return source_row_bytes(static_cast<SourceFormat>(source), columns);
}

// Readies fresh memory: zeroes what pads each expert's last panel. Before the first `grus_pack`.
GRUS_API void grus_prepare(const GrusMatrix* m) {
    const Panel p(m->format, m->columns);
    for (int64_t expert = 0; expert < m->experts && m->rows % kRows != 0; ++expert) {
        std::memset(panel_at(*m, p, expert, panels_of(*m) - 1), 0, static_cast<size_t>(p.bytes));
    }
}

// Packs `rows` rows of a source as rows first .. first + rows of one expert. Zeroes what pads the last panel.
GRUS_API void grus_pack(const GrusMatrix* m, int64_t expert, int64_t first, int64_t rows, int32_t source, const uint8_t* data,
                        const AffineParts* affine, float factor, int32_t threads) {
    const Panel p(m->format, m->columns);
    Input in{static_cast<SourceFormat>(source), data, 0, affine ? *affine : AffineParts{}, factor};
    in.row_bytes = in.source == SourceFormat::Affine ? m->columns * in.affine.bits / 8 : source_row_bytes(in.source, m->columns);
    const int64_t begin = first / kRows, end = (first + rows + kRows - 1) / kRows;
    parallel(end - begin, 1, threads, [&](int64_t from, int64_t to) {
        for (int64_t panel = begin + from; panel < begin + to; ++panel) {
            const int64_t before = panel * kRows - first;  // rows of the source
            pack_lanes(*m, p, panel_at(*m, p, expert, panel), static_cast<int>(std::max<int64_t>(0, -before)),
                       static_cast<int>(std::min<int64_t>(kRows, rows - before)), rows - before, in,
                       [&](int64_t lane) { return before + lane; });
        }
    });
}

// Packs the next panels of what is stored.
GRUS_API void grus_pack_more(GrusMatrix* m, int64_t panels, int32_t threads) {
    const Panel p(m->format, m->columns);
    const int64_t each = panels_of(*m), first = m->experts * each - m->unpacked, count = std::min(panels, m->unpacked);
    parallel(count, 1, threads, [&](int64_t from, int64_t to) {
        for (int64_t i = first + from; i < first + to; ++i) {
            uint8_t* panel = m->data + i * p.bytes;
            if (m->rows - i % each * kRows < kRows) std::memset(panel, 0, static_cast<size_t>(p.bytes));
            pack_stored(*m, p, i / each, i % each, 0, kRows, panel);
        }
    });
    const int64_t left = m->unpacked - count;
    std::atomic_thread_fence(std::memory_order_release);
    *static_cast<volatile int64_t*>(&m->unpacked) = left;
}

// Packs an expert's panels of what is stored to memory of their own.
GRUS_API void grus_pack_expert(const GrusMatrix* m, int64_t expert, uint8_t* to, int32_t threads) {
    const Panel p(m->format, m->columns);
    parallel(panels_of(*m), 1, threads, [&](int64_t from, int64_t until) {
        for (int64_t i = from; i < until; ++i) {
            if (m->rows - i * kRows < kRows) std::memset(to + i * p.bytes, 0, static_cast<size_t>(p.bytes));
            pack_stored(*m, p, expert, i, 0, kRows, to + i * p.bytes);
        }
    });
}

// Dequantized rows. Rows of all experts are numbered through.
GRUS_API void grus_rows(const GrusMatrix* m, const int64_t* ids, int64_t n, float* out, int32_t threads) {
    const Panel p(m->format, m->columns);
    parallel(n, 4, threads, [&](int64_t from, int64_t to) {
        static thread_local Scratch scratch;
        for (int64_t i = from; i < to; ++i) {
            const int64_t expert = ids[i] / m->rows, row = ids[i] % m->rows;
            const int lane = static_cast<int>(row % kRows);
            if (is_packed(*m, expert, row / kRows)) {
                row_of(*m, p, panel_at(*m, p, expert, row / kRows), lane, out + i * m->columns);
            } else {
                pack_stored(*m, p, expert, row / kRows, lane, lane + 1, scratch.at_least(p.bytes));
                row_of(*m, p, scratch.at_least(p.bytes), lane, out + i * m->columns);
            }
        }
    });
}

}  // extern "C"
