// From a file's rows to panels, and single rows back to floats. Runs once a matrix; reads every source byte once.
#include <cstring>
#include <initializer_list>

#include "halves.hpp"
#include "matrix.hpp"
#include "pool.hpp"
#include "sources.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace grus {
namespace {

// Codes of one row of a block, into its lane (four bytes of every 64).
void put_codes(Code code, uint8_t* to, const uint8_t* codes, int lane) {
    if (code == Code::S8) {
        for (int g = 0; g < 8; ++g) std::memcpy(to + 64 * g + 4 * lane, codes + 4 * g, 4);
        return;
    }
    PlanePair planes = planes_of(code);
    for (const Plane& plane : {planes.low, planes.high}) {
        for (int v = 0; v < plane.bits; ++v) {
            uint8_t four[4] = {};
            for (int turn = 0; turn * plane.bits < 8; ++turn) {
                const uint8_t* quad = codes + 4 * (turn * plane.bits + v);
                for (int i = 0; i < 4; ++i) {
                    int field = (quad[i] >> plane.place) & ((1 << plane.bits) - 1);
                    four[i] = static_cast<uint8_t>(four[i] | field << turn * plane.bits);
                }
            }
            std::memcpy(to + plane.start + 64 * v + 4 * lane, four, 4);
        }
    }
}

void get_codes(Code code, const uint8_t* from, uint8_t* codes, int lane) {
    if (code == Code::S8) {
        for (int g = 0; g < 8; ++g) std::memcpy(codes + 4 * g, from + 64 * g + 4 * lane, 4);
        return;
    }
    std::memset(codes, 0, kBlock);
    PlanePair planes = planes_of(code);
    for (const Plane& plane : {planes.low, planes.high}) {
        if (plane.bits == 0) continue;
        for (int g = 0; g < 8; ++g) {
            const uint8_t* four = from + plane.start + 64 * (g % plane.bits) + 4 * lane;
            for (int i = 0; i < 4; ++i) {
                int field = (four[i] >> plane.bits * (g / plane.bits)) & ((1 << plane.bits) - 1);
                codes[4 * g + i] = static_cast<uint8_t>(codes[4 * g + i] | field << plane.place);
            }
        }
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

void pack_dense_row(const Format& f, const Panel& p, uint8_t* panel, int lane, Source source, const uint8_t* row,
                    int64_t columns) {
    uint8_t* to = panel + p.codes;
    for (int64_t c = 0; c < p.blocks * kBlock; ++c) {
        float v = c < columns ? dense_at(source, row, c) : 0.0f;
        if (f.code == Code::F32) {
            std::memcpy(to + (c * kRows + lane) * 4, &v, 4);
        } else if (f.code == Code::F16) {
            uint16_t h = to_f16(v);
            std::memcpy(to + (c * kRows + lane) * 2, &h, 2);
        } else {
            uint16_t h = to_bf16(v);
            std::memcpy(to + ((c / 2 * kRows + lane) * 2 + c % 2) * 2, &h, 2);
        }
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
    if (f.dense()) return pack_dense_row(f, p, panel, lane, in.source, bytes, m.columns);
    Block block{};
    for (int64_t b = 0; b < p.blocks; ++b) {
        if (in.source == Source::Affine) {
            read_affine_block(in.affine, bytes, row, b, block);
        } else if (in.source <= Source::BF16) {
            float x[kBlock];
            for (int i = 0; i < kBlock; ++i) {
                int64_t c = b * kBlock + i;
                x[i] = c < m.columns ? dense_at(in.source, bytes, c) : 0.0f;
            }
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
        for (int64_t c = 0; c < m.columns; ++c) {
            int64_t at = f.code == Code::BF16 ? (c / 2 * kRows + lane) * 2 + c % 2 : c * kRows + lane;
            out[c] = dense_at(f.code == Code::F32 ? Source::F32 : f.code == Code::F16 ? Source::F16 : Source::BF16, codes, at);
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

// Readies fresh memory: asks for large pages, and zeroes what pads each expert's last panel. Before the first `grus_pack`.
GRUS_API void grus_prepare(const GrusMatrix* m) {
    const Panel p(m->format, m->columns);
#if defined(__linux__)
    constexpr uintptr_t kLarge = 1 << 21;
    uintptr_t begin = (reinterpret_cast<uintptr_t>(m->data) + kLarge - 1) / kLarge * kLarge;
    uintptr_t end = (reinterpret_cast<uintptr_t>(m->data) + grus_packed_bytes(m)) / kLarge * kLarge;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
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
