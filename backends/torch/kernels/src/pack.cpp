// From a file's rows to panels, and single rows back to floats. Runs once a matrix; reads every source byte once.
#include <algorithm>
#include <cstring>

#include "encode.hpp"
#include "halves.hpp"
#include "matrix.hpp"
#include "pool.hpp"
#include "sources.hpp"


namespace grus {
namespace {

uint32_t four_at(const uint8_t* from) {
    uint32_t v;
    std::memcpy(&v, from, 4);
    return v;
}

constexpr uint32_t in_each_byte(int mask) { return static_cast<uint32_t>(mask) * 0x01010101u; }

// Codes of one row of a block, into its lane (four bytes of every 64). Four codes are moved at once.
template <Plane P>
void put_plane(uint8_t* to, const uint8_t* codes, int lane) {
    for (int v = 0; v < P.bits; ++v) {
        uint32_t four = 0;
        for (int turn = 0; turn * P.bits < 8; ++turn) {
            uint32_t quad = four_at(codes + kQuad * (turn * P.bits + v));
            four |= ((quad >> P.place) & in_each_byte((1 << P.bits) - 1)) << turn * P.bits;
        }
        std::memcpy(to + P.start + 64 * v + kQuad * lane, &four, 4);
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
void put_planes(uint8_t* to, const uint8_t* codes, int lane) {
    put_plane<Planes<C>::low>(to, codes, lane);
    put_plane<Planes<C>::high>(to, codes, lane);
}

template <Code C>
void get_planes(const uint8_t* from, uint8_t* codes, int lane) {
    std::memset(codes, 0, kBlock);
    get_plane<Planes<C>::low>(from, codes, lane);
    get_plane<Planes<C>::high>(from, codes, lane);
}

void put_codes(Code code, uint8_t* to, const uint8_t* codes, int lane) {
    switch (code) {
        case Code::S8:
            for (int g = 0; g < 8; ++g) std::memcpy(to + 64 * g + 4 * lane, codes + 4 * g, 4);
            return;
        case Code::U6: return put_planes<Code::U6>(to, codes, lane);
        case Code::U5: return put_planes<Code::U5>(to, codes, lane);
        case Code::U3: return put_planes<Code::U3>(to, codes, lane);
        case Code::U2: return put_planes<Code::U2>(to, codes, lane);
        case Code::U1: return put_planes<Code::U1>(to, codes, lane);
        default: return put_planes<Code::U4>(to, codes, lane);
    }
}

void get_codes(Code code, const uint8_t* from, uint8_t* codes, int lane) {
    switch (code) {
        case Code::S8:
            for (int g = 0; g < 8; ++g) std::memcpy(codes + 4 * g, from + 64 * g + 4 * lane, 4);
            return;
        case Code::U6: return get_planes<Code::U6>(from, codes, lane);
        case Code::U5: return get_planes<Code::U5>(from, codes, lane);
        case Code::U3: return get_planes<Code::U3>(from, codes, lane);
        case Code::U2: return get_planes<Code::U2>(from, codes, lane);
        case Code::U1: return get_planes<Code::U1>(from, codes, lane);
        default: return get_planes<Code::U4>(from, codes, lane);
    }
}

void put_scale(ScaleType type, uint8_t* region, int64_t group, int lane, uint32_t bits) {
    std::memcpy(region + (group * kRows + lane) * scale_bytes(type), &bits, scale_bytes(type));
}

float get_scale(ScaleType type, const uint8_t* region, int64_t group, int lane) {
    uint32_t bits = 0;
    std::memcpy(&bits, region + (group * kRows + lane) * scale_bytes(type), scale_bytes(type));
    if (type == ScaleType::F32) return as_float(bits);
    return type == ScaleType::F16 ? from_f16(static_cast<uint16_t>(bits)) : from_bf16(static_cast<uint16_t>(bits));
}

void put_block(const Format& f, const Panel& p, uint8_t* panel, int lane, int64_t b, const Block& block) {
    put_codes(f.code, panel + p.codes + b * code_bytes(f.code), block.codes, lane);
    if (b % f.blocks_per_scale == 0) {
        put_scale(f.scale, panel, b / f.blocks_per_scale, lane, block.scale);
        if (f.minima) put_scale(f.scale, panel + p.minima, b / f.blocks_per_scale, lane, block.minimum);
    }
    if (f.steps == Steps::None) return;
    for (int h = 0; h < f.halves; ++h) {
        panel[p.steps + (b * f.halves + h) * kRows + lane] = block.step[h];
        if (f.minima) panel[p.floors + (b * f.halves + h) * kRows + lane] = block.floor[h];
    }
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

struct Input {
    Source source;
    const uint8_t* data;
    int64_t row_bytes;
    AffineParts affine;
};

void pack_row(const GrusMatrix& m, const Panel& p, uint8_t* panel, int lane, const Input& in, int64_t row) {
    const Format& f = m.format;
    const uint8_t* bytes = in.data + row * in.row_bytes;
    if (f.code == Code::F16) return pack_dense_row<uint16_t>(panel + p.codes, lane, bytes, in.row_bytes, p.blocks * kBlock);
    if (f.code == Code::F32) return pack_dense_row<uint32_t>(panel + p.codes, lane, bytes, in.row_bytes, p.blocks * kBlock);
    if (f.code == Code::BF16) return pack_dense_row<uint32_t>(panel + p.codes, lane, bytes, in.row_bytes, p.blocks * kBlock / 2);
    Block block{};
    uint8_t super[kQ6KBytes];  // the K-quant block that floats become
    for (int64_t b = 0; b < p.blocks; ++b) {
        if (in.source == Source::Affine) {
            read_affine_block(in.affine, bytes, row, b, block);
        } else if (in.source <= Source::BF16 && f.steps != Steps::None) {
            if (b % (kSuper / kBlock) == 0) {
                float x[kSuper];
                read_floats(in.source, bytes, b * kBlock, kSuper, x);
                if (f.code == Code::U4) encode_q4_k(x, super);
                else encode_q6_k(x, super);
            }
            read_block(f.code == Code::U4 ? Source::Q4_K : Source::Q6_K, super, b % (kSuper / kBlock), block);
        } else if (in.source <= Source::BF16) {
            float x[kBlock] = {};
            read_floats(in.source, bytes, b * kBlock, std::min<int64_t>(kBlock, m.columns - b * kBlock), x);
            if (f.code == Code::S8) quantize_q8_0(x, block);
            else quantize_q4_0(x, block);
        } else {
            read_block(in.source, bytes, b, block);
        }
        put_block(f, p, panel, lane, b, block);
    }
}

void row_of(const GrusMatrix& m, const Panel& p, int64_t expert, int64_t row, float* out) {
    const Format& f = m.format;
    const uint8_t* panel = panel_at(m, p, expert, row / kRows);
    const int lane = static_cast<int>(row % kRows);
    const uint8_t* codes = panel + p.codes;
    if (f.dense()) {
        const Source source = f.code == Code::F32 ? Source::F32 : f.code == Code::F16 ? Source::F16 : Source::BF16;
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
            if (f.steps != Steps::None) {
                uint8_t step = panel[p.steps + part * kRows + lane];
                scale = d * static_cast<float>(f.steps == Steps::Signed ? static_cast<int8_t>(step) : step);
                if (f.minima) minimum = -(m0 * static_cast<float>(panel[p.floors + part * kRows + lane]));
            }
            int code = values ? values[q[i]] : f.code == Code::S8 ? static_cast<int8_t>(q[i]) : f.code == Code::U1 ? 2 * q[i] : q[i];
            out[b * kBlock + i] = scale * static_cast<float>(code - f.offset) + minimum;
        }
    }
}

}  // namespace
}  // namespace grus

using namespace grus;

extern "C" {

GRUS_API int64_t grus_packed_bytes(const GrusMatrix* m) {
    return m->experts * panels_of(*m) * Panel(m->format, m->columns).bytes;
}

GRUS_API int64_t grus_source_row_bytes(int32_t source, int64_t columns) {
    return source_row_bytes(static_cast<Source>(source), columns);
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
                        const AffineParts* affine, int32_t threads) {
    const Panel p(m->format, m->columns);
    Input in{static_cast<Source>(source), data, 0, affine ? *affine : AffineParts{}};
    in.row_bytes = in.source == Source::Affine ? m->columns * in.affine.bits / 8 : source_row_bytes(in.source, m->columns);
    const int64_t begin = first / kRows, end = (first + rows + kRows - 1) / kRows;
    parallel(end - begin, 1, threads, [&](int64_t from, int64_t to) {
        for (int64_t panel = begin + from; panel < begin + to; ++panel) {
            for (int lane = 0; lane < kRows; ++lane) {
                int64_t row = panel * kRows + lane - first;
                if (row >= 0 && row < rows) pack_row(*m, p, panel_at(*m, p, expert, panel), lane, in, row);
            }
        }
    });
}

// Dequantized rows. Rows of all experts are numbered through.
GRUS_API void grus_rows(const GrusMatrix* m, const int64_t* ids, int64_t n, float* out, int32_t threads) {
    const Panel p(m->format, m->columns);
    parallel(n, 4, threads, [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) row_of(*m, p, ids[i] / m->rows, ids[i] % m->rows, out + i * m->columns);
    });
}

}  // extern "C"
