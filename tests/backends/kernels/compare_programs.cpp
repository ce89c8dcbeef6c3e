// Instructions of recurrent layers, of latent attention and of single numbers: every tier of this CPU against the scalar one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "arch/dispatch.hpp"
#include "common/half_float.hpp"
#include "compare.hpp"
#include "program/program.hpp"

using namespace grus;

extern "C" {
const char* grus_tier();
int32_t grus_use_tier(int32_t);
void grus_run_program(const ProgramStep*, int32_t);
}

namespace {

// One after the other: two sequences, of one token and of more, through one layer of each kind. All that was written, states included.
std::vector<float> run(const std::vector<float>& numbers, KVDtype kept) {
    constexpr int64_t tokens = 7, width = 460, heads = 6, key_heads = 3, dim = 20, value_dim = 75, taps = 4, capacity = 24, latent = 40;
    std::vector<float> x(tokens * width), out(tokens * width), attended(tokens * heads * latent), mapped(tokens * width);
    std::vector<float> read(tokens * heads * value_dim), each(tokens * heads * value_dim), back(tokens * heads * dim);
    for (size_t i = 0; i < x.size(); ++i) x[i] = numbers[i % numbers.size()];
    float* registers[] = {x.data(), out.data(), attended.data(), mapped.data(), read.data(), each.data(), back.data()};
    const int64_t widths[] = {width, width, heads * latent, width, heads * value_dim, heads * value_dim, heads * dim};
    const ProgramSegment segments[] = {{0, 1, 9, capacity, 0}, {1, 6, 3, capacity, 0}};
    std::vector<float> inputs(4 * taps * width, 0.25f), states(4 * heads * dim * value_dim, 0.5f), rows(2 * capacity * latent, 0.1f);
    uint8_t* memory[2 * 2 * 4] = {};  // [layer][segment]: a recurrent layer, and one with latents
    for (int s = 0; s < 2; ++s) {
        for (int i = 0; i < 2; ++i) {
            memory[4 * s + i] = reinterpret_cast<uint8_t*>(inputs.data() + (2 * s + i) * taps * width);
            memory[4 * s + 2 + i] = reinterpret_cast<uint8_t*>(states.data() + (2 * s + i) * heads * dim * value_dim);
        }
        memory[8 + 4 * s] = reinterpret_cast<uint8_t*>(rows.data() + s * capacity * latent);
    }
    std::vector<float> weights(numbers.begin(), numbers.begin() + heads * dim * value_dim), nothing(width), ones(width, 1.0f);
    std::vector<uint16_t> halves(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) halves[i] = to_bf16(weights[i]);
    std::vector<Instruction> code;
    const auto line = [&](Opcode opcode, int32_t in, int32_t to) -> Instruction& {
        Instruction made{};
        made.opcode = opcode, made.in = in, made.out = to, made.kv_dtype = kept;
        for (RegisterView& view : made.views) view.index = -1;
        made.views[0] = {in, 0, 0, 1};
        code.push_back(made);
        return code.back();
    };
    {
        Instruction& i = line(Opcode::Conv, 0, 1);
        i.dim = width, i.taps = taps, i.w = weights.data(), i.w2 = nothing.data(), i.views[2] = {1, 0, 0, 1};
    }
    for (bool delta : {true, false}) {
        Instruction& i = line(Opcode::Recur, 0, 4);
        i.heads = heads, i.kv_heads = key_heads, i.dim = dim, i.value_dim = value_dim;
        const RegisterView views[] = {{0, 0, dim, 1}, {0, 60, dim, 1}, {1, 5, value_dim, 1}, {0, 120, 1, 1}, {delta ? 0 : -1, 130, 1, 1},
                                      {4, 0, value_dim, 1}};
        std::copy_n(views, 6, i.views);
    }
    {
        Instruction& i = line(Opcode::Store, 0, 0);
        i.layer = 1, i.kv_heads = 1, i.dim = i.group = latent, i.views[0] = {0, 100, latent, 1};
    }
    {
        Instruction& i = line(Opcode::Attention, 0, 2);
        i.layer = 1, i.heads = heads, i.kv_heads = 1, i.dim = i.group = latent, i.latent = 1, i.scale = 0.3f, i.w = weights.data();
        i.views[0] = {0, 3, latent, 1};
    }
    {
        Instruction& i = line(Opcode::HeadProduct, 4, 6);
        i.heads = heads, i.dim = dim, i.rows = i.group = value_dim, i.transposed = 1, i.kv_dtype = KVDtype::F32, i.w = weights.data();
        i.views[0] = {4, 0, value_dim, 1}, i.views[2] = {6, 0, dim, 1};
    }
    {
        Instruction& i = line(Opcode::HeadProduct, 6, 5);
        i.heads = heads, i.dim = dim, i.rows = i.group = value_dim, i.kv_dtype = KVDtype::BF16, i.w = reinterpret_cast<float*>(halves.data());
        i.views[0] = {6, 0, dim, 1}, i.views[2] = {5, 0, value_dim, 1};
    }
    int64_t at = 0;
    for (int32_t function = 0; function <= static_cast<int32_t>(MapFunction::Sum); ++function) {
        Instruction& i = line(Opcode::Map, 0, 3);
        i.function = static_cast<MapFunction>(function), i.heads = 2, i.dim = i.function == MapFunction::Sum ? 90 : 13, i.scale = -0.4f;
        i.shift = 0.7f, i.w = ones.data();
        const bool root = i.function == MapFunction::Sqrt, over = i.function == MapFunction::Divide;
        i.views[0] = {root ? -1 : 0, function, 30, function % 3 ? 1 : 2};
        i.views[1] = {over ? -1 : 0, 200, 7, function % 2};
        i.views[2] = {3, at, 13, 1};
        at += 26;
    }
    const ProgramStep step{code.data(), static_cast<int64_t>(code.size()), tokens, registers, widths, segments, 2, memory, nullptr};
    grus_run_program(&step, 2);
    for (const auto* part : {&attended, &mapped, &read, &each, &back, &inputs, &states}) out.insert(out.end(), part->begin(), part->end());
    return out;
}

}  // namespace

void compare_programs() {
    std::vector<float> numbers(6 * 20 * 75);
    for (float& number : numbers) number = uniform();
    for (KVDtype kept : {KVDtype::F32, KVDtype::F16, KVDtype::BF16}) {
        grus_use_tier(0);
        const std::vector<float> want = run(numbers, kept);
        for (int tier = 1; tier < static_cast<int>(TierId::Count); ++tier) {
            if (!select_tier(tier)) continue;
            const std::vector<float> got = run(numbers, kept);
            const float allowed = kept == KVDtype::F32 ? 1e-4f : 2e-2f;  // another rounding here and there
            for (size_t i = 0; i < want.size(); ++i) {
                if (std::fabs(want[i] - got[i]) <= allowed * std::fmax(1.0f, std::fabs(want[i]))) continue;
                std::printf("%s: program, kept %d, %zu: %g for %g\n", grus_tier(), static_cast<int>(kept), i, got[i], want[i]);
                ++failures;
                break;
            }
        }
    }
}
