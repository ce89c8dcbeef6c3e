// Holds every tier of this CPU against the scalar one, which the Python tests hold against the formats' references. A program
// of its own, so that it runs where Python does not: under qemu for other CPUs, and under the sanitizers.
// cases.inc is written by compare_cases.py, from the same table that Grus uses.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "arch/dispatch.hpp"
#include "common/half_float.hpp"
#include "formats/matrix.hpp"
#include "formats/dequantizers.hpp"
#include "program/program.hpp"
#include "compare.hpp"

using namespace grus;

extern "C" {
const char* grus_tier();
int32_t grus_use_tier(int32_t);
int64_t grus_packed_bytes(const GrusMatrix*);
int64_t grus_source_row_bytes(int32_t, int64_t);
void grus_prepare(const GrusMatrix*);
void grus_pack(const GrusMatrix*, int64_t, int64_t, int64_t, int32_t, const uint8_t*, const AffineParts*, float, int32_t);
void grus_pack_more(GrusMatrix*, int64_t, int32_t);
void grus_rows(const GrusMatrix*, const int64_t*, int64_t, float*, int32_t);
void grus_matmul(const GrusMatrix*, const float*, int64_t, int64_t, float*, int64_t, int32_t);
void grus_gather(const GrusMatrix*, const float*, int64_t, const int64_t*, const int64_t*, const int64_t*, int64_t, float*,
                 int64_t, int32_t);
}

extern "C" {
void grus_rms_norm(const float*, const float*, float*, const float*, float, int64_t, int64_t, float*, int32_t);
void grus_swiglu(const float*, int64_t, int64_t, float*, int32_t);
void grus_run_program(const ProgramStep*, int32_t);
void grus_argmax(const float*, int64_t, int64_t, float*, int64_t*, int32_t);
void grus_top_k(const float*, int64_t, int64_t, int64_t, float*, int64_t*, int32_t);
void grus_softmax_mass(const float*, int64_t, int64_t, const float*, const float*, float*, int32_t);
void grus_bf12_encode(const uint16_t*, int64_t, int64_t, uint8_t*, uint8_t*, int64_t*);
void grus_bf12_outliers(const uint16_t*, int64_t, int64_t, const uint8_t*, const int64_t*, GrusBf12Outlier*);
void grus_bf12_rows(const GrusMatrix*, const int64_t*, int64_t, float*);
}

struct Case {
    const char* name;
    int source, bits, group;
    Format format;
    int64_t columns;
};
const Case kCases[] = {
#include "cases.inc"
};

uint8_t byte() { return static_cast<uint8_t>(bits()); }
uint16_t scale16() { return static_cast<uint16_t>(0x3000 | (bits() & 0x87ff)); }  // a small f16, and a bf16 of its size

// Blocks that are packed panel by panel, each when a product or a row needs it, against the same packed before.
void compare_stored(const Case& c, int64_t rows, int64_t tokens, int threads) {
    if (c.source <= static_cast<int>(SourceFormat::Affine)) return;  // only blocks lie in files so
    const int64_t row_bytes = grus_source_row_bytes(c.source, c.columns);
    auto data = fill(2 * rows * row_bytes, byte);
    std::vector<int64_t> order(rows);
    for (int64_t i = 0; i < rows; ++i) order[i] = rows - 1 - i;
    const GrusStoredRows stored{0, rows, data.get(), threads > 1 ? nullptr : order.data(), c.source};
    GrusMatrix there{c.format, 2, rows, c.columns, nullptr, nullptr, 0, &stored, 1, nullptr, 2 * ((rows + 15) / 16)};
    void* memory = ::operator new(static_cast<size_t>(grus_packed_bytes(&there)), std::align_val_t(64));
    there.data = static_cast<uint8_t*>(memory);
    GrusMatrix here = there;
    grus_pack_more(&here, here.unpacked, threads);
    auto x = fill(tokens * c.columns, uniform);
    const int64_t ids[] = {2 * rows - 1, 0};
    std::vector<float> made[2];
    for (const GrusMatrix* m : {&here, &there}) {
        std::vector<float> out(tokens * rows + 2 * c.columns);
        grus_matmul(m, x.get(), tokens, c.columns, out.data(), rows, threads);
        grus_rows(m, ids, 2, out.data() + tokens * rows, threads);
        made[m == &there] = out;
    }
    if (std::memcmp(made[0].data(), made[1].data(), made[0].size() * 4)) {  // bits, for random scales make NaNs too
        std::printf("%s: %s, %lld rows as they are stored: other bits\n", grus_tier(), c.name, (long long)rows);
        ++failures;
    }
    ::operator delete(memory, std::align_val_t(64));
}

// A gate beside itself.
std::vector<float> gated(const GrusMatrix& m, const float* x, int64_t tokens) {
    std::vector<float> in(x, x + tokens * m.columns), out(tokens * m.rows);
    float* registers[] = {in.data(), out.data()};
    const int64_t widths[] = {m.columns, m.rows};
    const ProgramSegment span{0, tokens, 0, tokens, 0};
    Instruction gate{};
    gate.opcode = Opcode::Gate, gate.in = 0, gate.out = 1, gate.matrix = gate.up = &m;
    const ProgramStep step{&gate, 1, tokens, registers, widths, &span, 1, nullptr, nullptr};
    grus_run_program(&step, 2);
    return out;
}

void compare(const Case& c, int64_t rows, int64_t tokens, int threads) {
    GrusMatrix m{c.format, 2, rows, c.columns, nullptr, nullptr, 0, nullptr, 0, nullptr, 0};
    const Panel panel(m.format, m.columns);
    const int64_t nbytes = grus_packed_bytes(&m);
    void* memory = ::operator new(static_cast<size_t>(nbytes), std::align_val_t(64));
    m.data = static_cast<uint8_t*>(memory);
    grus_prepare(&m);
    for (int64_t expert = 0; expert < 2; ++expert) {
        if (c.source == static_cast<int>(SourceFormat::Affine)) {
            auto codes = fill(rows * c.columns * c.bits / 8, byte);
            const int64_t row_bytes = c.columns / c.group * scale_bytes(c.format.scale);
            auto scales = fill(rows * row_bytes / 2, scale16), biases = fill(rows * row_bytes / 2, scale16);
            AffineParts parts{reinterpret_cast<uint8_t*>(scales.get()), reinterpret_cast<uint8_t*>(biases.get()), row_bytes,
                              c.bits, c.group, c.format.scale};
            grus_pack(&m, expert, 0, rows, c.source, codes.get(), &parts, 1.0f, threads);
        } else {
            auto data = fill(rows * grus_source_row_bytes(c.source, c.columns), byte);
            grus_pack(&m, expert, 0, rows, c.source, data.get(), nullptr, 1.0f, threads);
        }
    }
    // Random bytes are no sensible scales.
    if (m.format.scale != ScaleType::None) {
        for (int64_t at = 0; at < nbytes; at += panel.bytes) {
            for (int64_t i = 0; i + 1 < panel.block_scales; i += 2) {
                uint16_t s = panel.powers ? static_cast<uint16_t>(0x7878 + (bits() & 0x0707)) : scale16();
                std::memcpy(m.data + at + i, &s, 2);
            }
        }
    } else {
        for (int64_t i = 0; i + 1 < nbytes; i += 2) {
            uint16_t s = scale16();
            std::memcpy(m.data + i, &s, 2);
        }
    }
    auto x = fill(tokens * c.columns, uniform);
    auto bias = fill((rows + 15) / 16 * 16 * 2, uniform);
    m.bias = bias.get();
    std::vector<float> want(tokens * rows), got(tokens * rows);
    grus_use_tier(0);
    grus_matmul(&m, x.get(), tokens, c.columns, want.data(), rows, threads);
    std::vector<int64_t> given, expert, to;
    for (int64_t e = 0; e < 2; ++e)
        for (int64_t t = e; t < tokens; t += 2) given.push_back(tokens - 1 - t), expert.push_back(e), to.push_back(t);
    std::vector<float> want2(tokens * rows), got2(tokens * rows), row(c.columns);
    grus_gather(&m, x.get(), c.columns, given.data(), expert.data(), to.data(), tokens, want2.data(), rows, threads);
    int64_t last = 2 * rows - 1;
    grus_rows(&m, &last, 1, row.data(), threads);
    const std::vector<float> want3 = gated(m, x.get(), tokens);
    float size = 0.0f;  // a sum that is near nothing by chance is rounded as its parts are
    for (int64_t i = 0; i < c.columns; ++i) size += row[i] * x.get()[i] * row[i] * x.get()[i];
    size = std::sqrt(size);
    std::vector<float> neon;  // whose bits i8mm has
    for (int tier = 1; tier < static_cast<int>(TierId::Count); ++tier) {
        if (!select_tier(tier)) continue;
        grus_matmul(&m, x.get(), tokens, c.columns, got.data(), rows, threads);
        grus_gather(&m, x.get(), c.columns, given.data(), expert.data(), to.data(), tokens, got2.data(), rows, threads);
        if (static_cast<TierId>(tier) == TierId::Neon) neon = got;
        if (static_cast<TierId>(tier) == TierId::I8mm && neon != got) {
            std::printf("i8mm: %s, %lld rows, %lld tokens: other bits than neon\n", c.name, (long long)rows, (long long)tokens);
            ++failures;
        }
        float most = std::fmax(1e-30f, size), worst = 0.0f;
        for (int64_t i = 0; i < tokens * rows; ++i) {
            most = std::fmax(most, std::fmax(std::fabs(want[i]), std::fabs(want2[i])));
            worst = std::fmax(worst, std::fmax(std::fabs(want[i] - got[i]), std::fabs(want2[i] - got2[i])));
        }
        const std::vector<float> got3 = gated(m, x.get(), tokens);
        float most3 = 1e-30f, worst3 = 0.0f;
        for (int64_t i = 0; i < tokens * rows; ++i) {
            most3 = std::fmax(most3, std::fabs(want3[i]));
            worst3 = std::fmax(worst3, std::fabs(want3[i] - got3[i]));
        }
        // From so many tokens on a matrix unit rounds to bf16 what others make eight bits.
        const bool rounded_twice = !m.format.dense() || m.format.code == Code::F8;
        const float share = tokens >= 64 && current_tier().unit && rounded_twice ? 2e-2f : 1e-5f;
        // What a closed gate lets through is as exact, of itself, as its sum is exact. Of a sum near nothing it is half the square, which
        // changes as fast as the sum is large.
        const float allowed3 = (4 + size) * share * most3 + 0x1p-22f * size * std::sqrt(2 * most3);
        if (!(worst <= share * most && worst3 <= allowed3)) {
            std::printf("%s: %s, %lld rows, %lld tokens: off by %g of %g, gated %g of %g\n", grus_tier(), c.name, (long long)rows,
                        (long long)tokens, worst, most, worst3, most3);
            ++failures;
        }
    }
    ::operator delete(memory, std::align_val_t(64));
}

// Norm, gate and attention of every tier, one after the other, into one row of numbers a tier.
std::vector<float> small_operations(const float* x) {
    constexpr int64_t rows = 3, n = 75;
    std::vector<float> sum(rows * n), normed(rows * n), gated(rows * n);
    grus_rms_norm(x, x + rows * n, sum.data(), x, 1e-6f, rows, n, normed.data(), 2);
    grus_swiglu(x, rows, n, gated.data(), 2);
    float best[3], top[3 * 9], mass[3];
    const float rates[] = {1.0f, 0.5f, 2.0f};
    int64_t places[3], top_places[3 * 9];
    grus_argmax(x, rows, n, best, places, 2);
    grus_top_k(x, rows, n, 9, top, top_places, 2);
    grus_softmax_mass(x, rows, n, best, rates, mass, 2);
    for (float v : best) sum.push_back(v);
    for (float v : top) sum.push_back(v);
    for (float v : mass) sum.push_back(v);
    for (const auto* part : {&normed, &gated}) sum.insert(sum.end(), part->begin(), part->end());
    return sum;
}

void compare_small_operations() {
    auto x = fill(450, uniform);
    grus_use_tier(0);
    const std::vector<float> want = small_operations(x.get());
    for (int tier = 1; tier < static_cast<int>(TierId::Count); ++tier) {
        if (!select_tier(tier)) continue;
        const std::vector<float> got = small_operations(x.get());
        for (size_t i = 0; i < want.size(); ++i) {
            if (std::fabs(want[i] - got[i]) <= 1e-5f) continue;
            std::printf("%s: small operation %zu: %g for %g\n", grus_tier(), i, got[i], want[i]);
            ++failures;
            break;
        }
    }
}

struct HeadShape { int64_t dim, heads, group, window, past; };
constexpr HeadShape kUneven{20, 4, 20, 7, 20};  // a head is no whole number of registers
constexpr HeadShape kMany{64, 30, 32, 0, 70};   // groups of 8, 4, 2 and 1 heads share a key head, and codes have a scale for whole registers

// Dense rows, norms, heads and attention of prompts and of single tokens, to themselves and to an encoder, in one pass.
std::vector<float> pass(const float* numbers, ScaleType type, KVDtype kept, const HeadShape& shape) {
    constexpr int64_t hidden = 40, kv = 2, tokens = 35, capacity = 80;
    const int64_t dim = shape.dim, heads = shape.heads, width = (heads + 2 * kv) * dim;
    const Code code = type == ScaleType::F32 ? Code::F32 : type == ScaleType::F16 ? Code::F16 : Code::BF16;
    const int64_t size = scale_bytes(type) * hidden;
    auto weights = fill(width * hidden, scale16);
    auto floats = fill(width * hidden, uniform);
    auto* data = type == ScaleType::F32 ? reinterpret_cast<uint8_t*>(floats.get()) : reinterpret_cast<uint8_t*>(weights.get());
    GrusMatrix m{{code, ScaleType::None, 1, 0, BlockScales::None, 1, 0, 0}, 1, width, hidden, data, nullptr, size, nullptr, 0, nullptr, 0};
    std::vector<float> x(numbers, numbers + tokens * hidden), mixed(tokens * width), out(tokens * heads * dim), gated(tokens * width);
    std::vector<float> memory(2 * 2 * kv * capacity * dim), params(2 * 2 * kv * capacity * (dim / shape.group)), heard(kv * 9 * dim), normed(tokens * hidden), angles(2 * tokens * dim, 0.6f);
    std::vector<float> crossed(tokens * heads * dim);
    for (float& number : heard) number = uniform();
    float* registers[] = {x.data(), mixed.data(), out.data(), gated.data(), normed.data(), crossed.data()};
    const int64_t widths[] = {hidden, width, heads * dim, width, hidden, heads * dim};
    const ProgramSegment spans[] = {{0, 1, shape.past, capacity, 9}, {1, 34, 3, capacity, 4}};
    uint8_t* slabs[2 * 2 * 4] = {};  // [layer][span][keys, values, parameters of each]
    for (int i = 0; i < 2; ++i) {
        for (int which = 0; which < 2; ++which) {
            slabs[4 * i + which] = reinterpret_cast<uint8_t*>(memory.data() + (2 * i + which) * kv * capacity * dim);
            slabs[4 * i + 2 + which] = reinterpret_cast<uint8_t*>(params.data() + (2 * i + which) * kv * capacity * (dim / shape.group));
            slabs[8 + 4 * i + which] = reinterpret_cast<uint8_t*>(heard.data());
        }
    }
    const float* turns[] = {angles.data(), angles.data() + tokens * dim};
    Instruction product{}, gate{}, head{}, attend{}, norm{}, cross{};
    product.opcode = Opcode::Multiply, product.in = 0, product.out = 1, product.matrix = &m;
    gate.opcode = Opcode::Gate, gate.in = 0, gate.out = 3, gate.matrix = gate.up = &m;
    head.opcode = Opcode::Heads, head.in = head.out = 1;
    head.heads = attend.heads = heads, head.kv_heads = attend.kv_heads = kv, head.dim = head.rotary_dim = attend.dim = dim;
    head.kv_dtype = attend.kv_dtype = kept, head.group = attend.group = shape.group;
    head.w = numbers, head.eps = 1e-6f;
    attend.opcode = Opcode::Attention, attend.in = 1, attend.out = 2, attend.window = shape.window, attend.scale = 0.2f;
    norm.opcode = Opcode::LayerNorm, norm.in = 0, norm.out = 4, norm.w = numbers, norm.w2 = numbers + hidden, norm.eps = 1e-5f;
    cross = attend, cross.opcode = Opcode::CrossAttention, cross.in = 2, cross.out = 5, cross.layer = 1, cross.kv_dtype = KVDtype::F32;
    const Instruction code_of[] = {product, gate, head, attend, norm, cross};
    const ProgramStep step{code_of, 6, tokens, registers, widths, spans, 2, slabs, turns};
    grus_run_program(&step, 2);
    for (const auto* part : {&gated, &normed, &crossed}) out.insert(out.end(), part->begin(), part->end());
    return out;
}

void compare_passes(ScaleType type, KVDtype kept, const HeadShape& shape) {
    auto x = fill(35 * 40, uniform);
    const uint64_t seed = state;
    grus_use_tier(0);
    const std::vector<float> want = pass(x.get(), type, kept, shape);
    for (int tier = 1; tier < static_cast<int>(TierId::Count); ++tier) {
        if (!select_tier(tier)) continue;
        float allowed = type == ScaleType::BF16 && current_tier().bf16 ? 2e-2f : 1e-4f;
        if (kept != KVDtype::F32) allowed = std::fmax(allowed, kept == KVDtype::Int4 ? 0.1f : 1e-2f);  // another code here and there
        const uint64_t after = state;
        state = seed;  // the same weights
        const std::vector<float> got = pass(x.get(), type, kept, shape);
        state = after;
        for (size_t i = 0; i < want.size(); ++i) {
            if (std::fabs(want[i] - got[i]) <= allowed * std::fmax(1.0f, std::fabs(want[i]))) continue;
            std::printf("%s: pass %d, kept %d, %zu: %g for %g\n", grus_tier(), (int)type, (int)kept, i, got[i], want[i]);
            ++failures;
            break;
        }
    }
}

// Rows of 12 bits against the same rows as they were.
void compare_twelve() {
    constexpr int64_t rows = 37, columns = 1130, most = 70, panels = (rows + kRows - 1) / kRows;
    auto weights = fill(rows * columns, uniform);
    std::vector<uint16_t> w(rows * columns);
    // those of 128 and more have no code; much larger ones would hide what is wrong with the others
    for (int64_t i = 0; i < rows * columns; ++i) w[i] = i % 97 ? to_bf16(weights.get()[i]) : static_cast<uint16_t>(0x4300 + i % 64);
    std::vector<uint8_t> made(static_cast<size_t>(rows * bf12_row_bytes(columns))), bases(rows);
    std::vector<int64_t> counts(rows), starts(panels + 1);
    grus_bf12_encode(w.data(), rows, columns, made.data(), bases.data(), counts.data());
    for (int64_t r = 0, total = 0; r < rows; ++r) starts[r / kRows + 1] = total += counts[r];
    std::vector<GrusBf12Outlier> outlier(static_cast<size_t>(starts[panels]));
    grus_bf12_outliers(w.data(), rows, columns, bases.data(), counts.data(), outlier.data());
    const GrusBf12 bf12{made.data(), bases.data(), starts.data(), outlier.data()};
    GrusMatrix m{{Code::BF16, ScaleType::None, 1, 0, BlockScales::None, 1, 0, 0}, 1, rows, columns, reinterpret_cast<uint8_t*>(w.data()),
                 nullptr, columns * 2, nullptr, 0, nullptr, 0};
    auto x = fill(most * columns, uniform);
    for (int tier = 0; tier < static_cast<int>(TierId::Count); ++tier) {
        if (!select_tier(tier)) continue;
        for (int64_t tokens : {1, 2, 3, 4, 5, 8, 20, 70}) {
            std::vector<float> want(static_cast<size_t>(tokens * rows)), got(want.size());
            m.bf12 = nullptr;
            grus_matmul(&m, x.get(), tokens, columns, want.data(), rows, 2);
            m.bf12 = &bf12;
            grus_matmul(&m, x.get(), tokens, columns, got.data(), rows, 2);
            float largest = 0.0f, apart = 0.0f;
            for (size_t i = 0; i < want.size(); ++i) {
                largest = std::fmax(largest, std::fabs(want[i]));
                apart = std::fmax(apart, std::fabs(want[i] - got[i]));
            }
            if (apart <= 1e-5f * largest) continue;
            std::printf("%s: 12 bits, %lld tokens: off by %g of %g\n", grus_tier(), (long long)tokens, apart, largest);
            ++failures;
        }
        const int64_t ids[] = {rows - 1, 0, 20};
        std::vector<float> found(3 * columns);
        grus_bf12_rows(&m, ids, 3, found.data());
        for (int64_t i = 0; i < 3 * columns; ++i) {
            if (to_bf16(found[i]) == w[ids[i / columns] * columns + i % columns]) continue;
            std::printf("%s: 12 bits, number %lld comes back as another\n", grus_tier(), (long long)i);
            ++failures;
            break;
        }
    }
}

// Rows of bf16 as they lie in a file. Where a CPU multiplies bf16 itself, activations are rounded to it: half a unit of the eighth bit.
void compare_rows_of_bf16(int64_t rows, int64_t columns, int64_t tokens) {
    auto w = fill(rows * columns, +[] { return static_cast<uint16_t>(0x3e00 | (bits() & 0x81ff)); });  // up to a half, either sign
    auto x = fill(tokens * columns, uniform);
    const Format format{Code::BF16, ScaleType::None, 1, 0, BlockScales::None, 1, 0, 0};
    GrusMatrix m{format, 1, rows, columns, reinterpret_cast<uint8_t*>(w.get()), nullptr, columns * 2, nullptr, 0, nullptr, 0};
    std::vector<float> want(tokens * rows), got(tokens * rows);
    grus_use_tier(0);
    grus_matmul(&m, x.get(), tokens, columns, want.data(), rows, 2);
    for (int tier = 1; tier < static_cast<int>(TierId::Count); ++tier) {
        if (!select_tier(tier)) continue;
        grus_matmul(&m, x.get(), tokens, columns, got.data(), rows, 2);
        const float share = current_tier().bf16 ? 1.0f / 512 : 1e-5f;
        for (int64_t i = 0; i < tokens * rows; ++i) {
            float most = 0.0f;
            for (int64_t c = 0; c < columns; ++c)
                most += std::fabs(from_bf16(w[i % rows * columns + c]) * x[i / rows * columns + c]);
            if (std::fabs(want[i] - got[i]) <= share * most) continue;
            std::printf("%s: bf16, %lld rows, %lld tokens: %g for %g\n", grus_tier(), (long long)rows, (long long)tokens, got[i], want[i]);
            ++failures;
            break;
        }
    }
}

int main() {
    compare_streams();
    compare_frames();
    compare_shortlists();
    compare_mixtures();
    compare_programs();
    compare_small_operations();
    compare_twelve();
    for (ScaleType type : {ScaleType::F32, ScaleType::F16, ScaleType::BF16}) compare_passes(type, KVDtype::F32, kUneven);
    for (KVDtype kept : {KVDtype::F16, KVDtype::BF16, KVDtype::Int8, KVDtype::Int4})
        for (const HeadShape& shape : {kUneven, kMany}) compare_passes(ScaleType::F32, kept, shape);
    for (int64_t tokens : {1, 2, 3, 7, 40}) {
        compare_rows_of_bf16(21, 75, tokens);
        compare_rows_of_bf16(37, 320, tokens);
    }
    for (const Case& c : kCases) {
        compare_stored(c, 1, 1, 1);
        compare_stored(c, 37, 19, 2);
        compare_stored(c, 37, 99, 2);
        compare(c, 1, 1, 1);
        compare(c, 21, 3, 2);
        compare(c, 16, 15, 2);
        compare(c, 21, 37, 2);
        compare(c, 37, 99, 2);
        compare(c, 565, 2, 2);  // more panels of a gate than are read one after the other
    }
    int tiers = 0;
    for (int tier = 1; tier < static_cast<int>(TierId::Count); ++tier) {
        if (!grus_use_tier(tier)) continue;
        std::printf("compared %s: %d comparisons\n", grus_tier(), comparisons[tier]);
        tiers += comparisons[tier] > 0;
    }
    std::printf("%d failures\n", failures);
    return failures != 0 || tiers == 0;
}
