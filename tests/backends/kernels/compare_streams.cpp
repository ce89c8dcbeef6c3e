// Part of compare_tiers.cpp: convolutions in every form that a tier wants, and whole frames of a talker's codes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/half_float.hpp"
#include "conv/conv.hpp"
#include "conv/winograd.hpp"
#include "arch/dispatch.hpp"
#include "codec/codec_frame.hpp"
#include "compare.hpp"

using namespace grus;

extern "C" {
const char* grus_tier();
int32_t grus_use_tier(int32_t);
int64_t grus_conv_form(int64_t, int64_t, int64_t, int32_t);
void grus_conv_block_weights(const float*, int64_t, int64_t, float*);
void grus_conv_bf16x2_weights(const float*, int64_t, int64_t, int64_t, uint16_t*, int32_t);
void grus_conv_winograd_weights(const float*, int64_t, int64_t, float*, int32_t);
void grus_conv(const Conv*, const ConvChunk*, int32_t);
void grus_draw(const float*, int64_t, int64_t, const float*, const int32_t*, float, int64_t, float, int32_t*);
void grus_codec_frame(const CodecFrame*, int32_t);
}

namespace {

struct Shape {
    int64_t inputs, outputs, taps, dilation;
};

// Numbers [outputs][inputs][each] as [panels][each][inputs][16].
std::vector<float> panels_of(const float* w, const Shape& s, int64_t each) {
    std::vector<float> made(static_cast<size_t>(up(s.outputs, kRows) * each * s.inputs));
    for (int64_t o = 0; o < s.outputs; ++o)
        for (int64_t i = 0; i < s.inputs; ++i)
            for (int64_t n = 0; n < each; ++n)
                made[static_cast<size_t>(((o / kRows * each + n) * s.inputs + i) * kRows + o % kRows)] = w[(o * s.inputs + i) * each + n];
    return made;
}

// The same in bf16, as [panels][each][pairs of inputs][16][2], with zeros up to so many inputs.
std::vector<float> bf16_panels_of(const float* w, const Shape& s, int64_t each, int64_t inputs) {
    std::vector<float> made(static_cast<size_t>(up(s.outputs, kRows) * each * inputs / 2));
    uint16_t* to = reinterpret_cast<uint16_t*>(made.data());
    for (int64_t o = 0; o < s.outputs; ++o)
        for (int64_t i = 0; i < s.inputs; ++i)
            for (int64_t n = 0; n < each; ++n)
                to[((o / kRows * each + n) * (inputs / 2) + i / 2) * 2 * kRows + o % kRows * 2 + i % 2] = to_bf16(w[(o * s.inputs + i) * each + n]);
    return made;
}

// Weights [outputs][inputs][taps] in one of the forms, in exactly as many bytes.
std::vector<float> laid_out(const float* w, const Shape& s, ConvForm form) {
    const size_t panels = static_cast<size_t>((s.outputs + kRows - 1) / kRows);
    const int64_t blocks = (s.inputs + kBlock - 1) / kBlock;
    if (form == ConvForm::Bf16x2) {
        std::vector<float> made(panels * static_cast<size_t>(blocks * kBlock * s.taps) * kRows);
        grus_conv_bf16x2_weights(w, s.outputs, s.inputs, s.taps, reinterpret_cast<uint16_t*>(made.data()), 2);
        return made;
    }
    if (form == ConvForm::Winograd) {
        std::vector<float> made(panels * static_cast<size_t>(kWinogradPoints * s.inputs) * kRows);
        grus_conv_winograd_weights(w, s.outputs, s.inputs, made.data(), 2);
        return made;
    }
    if (form == ConvForm::Floats) return panels_of(w, s, s.taps);
    if (form == ConvForm::Bf16) return bf16_panels_of(w, s, s.taps, blocks * kBlock);
    const int64_t each = kBlockPoints * ((s.taps + kBlockTaps - 1) / kBlockTaps);
    std::vector<float> transformed(static_cast<size_t>(s.outputs * s.inputs * each));
    grus_conv_block_weights(w, s.outputs * s.inputs, s.taps, transformed.data());
    if (form == ConvForm::Blocks) return panels_of(transformed.data(), s, each);
    return bf16_panels_of(transformed.data(), s, each, s.inputs);
}

// Two streams, the longer one in two pieces, and what is drawn from their last rows, which rounding may change.
std::vector<float> stream(const float* numbers, const Shape& s, ConvForm form, bool draws) {
    constexpr int64_t length = 59, first = 3, others = 6;
    const int64_t keep = (s.taps - 1) * s.dilation;
    const size_t kept_size = static_cast<size_t>(keep * s.inputs);
    auto x = fill(length * s.inputs, uniform);
    auto add = fill((length - first) * s.outputs, uniform);
    auto bias = fill((s.outputs + kRows - 1) / kRows * kRows, uniform);
    auto snake = fill(2 * s.inputs, uniform);
    auto affine = fill(2 * s.inputs, uniform);
    const std::vector<float> w = laid_out(numbers, s, form);
    std::vector<float> kept(kept_size), last(kept_size), other(kept_size), y(static_cast<size_t>(length * s.outputs));
    const Conv conv{w.data(), static_cast<int64_t>(form), bias.get(), s.inputs, s.outputs, s.taps, s.dilation};
    const int64_t short_one[] = {first}, both[] = {others, length - first - others};
    const float* none[] = {nullptr};
    const float* before[] = {nullptr, kept.data()};
    float *begun[] = {kept.data()}, *after[] = {other.data(), last.data()};
    const float *rate = snake.get(), *size = rate + s.inputs, *scale = affine.get(), *shift = scale + s.inputs;
    const ConvChunk one{1, short_one, x.get(), scale, shift, rate, size, none, begun, nullptr, y.data(), 0};
    const ConvChunk two{2, both, x.get() + first * s.inputs, scale, shift, rate, size, before, after, add.get(),
                        y.data() + first * s.outputs, 0};
    grus_conv(&conv, &one, 2);
    grus_conv(&conv, &two, 2);
    y.insert(y.end(), last.begin(), last.end());
    if (!draws) return y;
    const float noise[] = {0.1f, 0.9f, 0.5f};
    const int32_t random[] = {1, 1, 0};
    int32_t ids[3];
    grus_draw(y.data() + (length - 3) * s.outputs, 3, s.outputs, noise, random, 0.7f, std::min<int64_t>(5, s.outputs), 0.8f, ids);
    y.insert(y.end(), ids, ids + 3);
    return y;
}

// What every tier makes of the same random numbers, against what the scalar one does.
template <class Made>
void compare_made(const char* what, float allowed, Made&& made) {
    const uint64_t seed = state;
    grus_use_tier(0);
    const std::vector<float> want = made(true);
    const uint64_t after = state;
    for (int tier = 0; tier < static_cast<int>(TierId::Count); ++tier) {
        if (!select_tier(tier)) continue;
        state = seed;
        const std::vector<float> got = made(false);
        const float share = current_tier().unit ? 50 * allowed : allowed;
        for (size_t i = 0; i < want.size(); ++i) {
            if (std::fabs(want[i] - got[i]) <= share * std::fmax(1.0f, std::fabs(want[i]))) continue;
            std::printf("%s: %s %zu: %g for %g\n", grus_tier(), what, i, got[i], want[i]);
            ++failures;
            break;
        }
    }
    state = after;
}

// Two codes of two sequences, through one product; the most likely one is taken.
std::vector<float> frame() {
    constexpr int64_t width = 24, vocab = 37, sequences = 2, count = 2;
    const auto dense = [](const float* from, int64_t rows) {
        const Format format{Code::F32, ScaleType::None, 1, 0, BlockScales::None, 1, 0, 0};
        return GrusMatrix{format, 1, rows, width, reinterpret_cast<uint8_t*>(const_cast<float*>(from)), nullptr, width * 4,
                          nullptr, 0, 0};
    };
    auto weights = fill((width + 4 * vocab) * width, uniform);
    auto hidden = fill(sequences * width, uniform);
    const float* from = weights.get();
    const GrusMatrix layer = dense(from, width);
    const GrusMatrix rest[] = {dense(from + width * width, vocab), dense(from + (width + vocab) * width, vocab),
                               dense(from + (width + 2 * vocab) * width, vocab), dense(from + (width + 3 * vocab) * width, vocab)};
    const GrusMatrix *heads[] = {&rest[0], &rest[1]}, *tables[] = {&rest[2], &rest[3]};
    std::vector<float> in(2 * sequences * width), out(in.size()), x(in.size()), logits(sequences * vocab), total(hidden.get(), hidden.get() + sequences * width);
    float* registers[] = {in.data(), out.data()};
    const int64_t widths[] = {width, width};
    Instruction product{};
    product.opcode = Opcode::Multiply, product.in = 0, product.out = 1, product.matrix = &layer;
    ProgramStep passes[count] = {};
    for (ProgramStep& pass : passes) {
        pass.code = &product, pass.length = 1, pass.registers = registers, pass.widths = widths;
        pass.tokens = &pass == passes ? 2 * sequences : sequences;
    }
    const float noise[sequences * count] = {};
    const int32_t random[sequences] = {};
    int32_t codes[sequences * (1 + count)] = {};
    CodecFrame f{};
    f.passes = passes, f.count = count, f.sequences = sequences, f.width = width, f.vocab = vocab, f.input = 0, f.output = 1;
    f.heads = heads, f.tables = tables, f.hidden = hidden.get(), f.noise = noise, f.random = random, f.top_k = 5;
    f.temperature = f.top_p = 1.0f, f.x = x.data(), f.logits = logits.data(), f.codes = codes, f.total = total.data();
    grus_codec_frame(&f, 2);
    total.insert(total.end(), codes, codes + sequences * (1 + count));
    return total;
}

}  // namespace

void compare_streams() {
    constexpr Shape kShapes[] = {{16, 1, 3, 2}, {16, 16, 3, 2}, {20, 40, 3, 2}, {16, 16, 7, 1}, {20, 40, 7, 3}, {37, 33, 7, 9}, {40, 20, 1, 1}};
    for (const Shape& s : kShapes) {
        auto w = fill(s.outputs * s.inputs * s.taps, +[] { return 0.2f * uniform(); });
        for (const int32_t may_round : {0, 1}) {
            compare_made(may_round ? "rounded stream" : "stream", may_round ? 2e-2f : 2e-5f, [&](bool plain) {
                const int64_t form = plain ? 0 : grus_conv_form(s.outputs, s.inputs, s.taps, may_round);
                return stream(w.get(), s, static_cast<ConvForm>(form), !may_round);
            });
        }
    }
}

void compare_frames() {
    compare_made("frame", 1e-5f, [](bool) { return frame(); });
}
