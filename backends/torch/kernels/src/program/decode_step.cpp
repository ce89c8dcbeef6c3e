// Between the calls of a step its weights have passed through the caches, so each small operation of Python or torch waits for memory several
// times: here are those of the most usual step.
#include "program/decode_step.hpp"

#include <algorithm>
#include <bit>

#include "common/scratch.hpp"

using namespace grus;

extern "C" {
GRUS_API void grus_run_program(const ProgramStep* step, int32_t threads);
GRUS_API void grus_argmax(const float* x, int64_t rows, int64_t n, float* best, int64_t* places, int32_t threads);
GRUS_API void grus_matmul_argmax(const GrusMatrix* m, const float* x, int64_t tokens, int64_t x_stride, float* best, int64_t* places,
                                 float* mass, int32_t threads);
}

namespace {

void find_angles(const DecodeStep& step) {
    float* room = step.rows;
    const int64_t tokens = step.program.tokens;
    for (int64_t i = 0; i < step.inputs; ++i) {
        const PositionTable* tables = step.tables + i * tokens;
        for (int part = 0; part < 2; ++part) {
            const auto row = [&](int64_t t) {
                return (part ? tables[t].sin : tables[t].cos) + (step.positions[t] - tables[t].first) * tables[t].width;
            };
            step.angles[2 * i + part] = tokens == 1 ? row(0) : room;
            for (int64_t t = 0; tokens > 1 && t < tokens; ++t) room = std::copy_n(row(t), tables[t].width, room);
        }
    }
}

// Of the wanted tokens what the program has made, one row behind the other.
const float* wanted_rows(const DecodeStep& step) {
    const int64_t n = step.wanted_count, width = step.program.widths[step.output];
    const float* x = step.program.registers[step.output];
    if (step.wanted[n - 1] - step.wanted[0] == n - 1) return x + step.wanted[0] * width;
    static thread_local Scratch scratch;
    float* const made = reinterpret_cast<float*>(scratch.at_least(n * width * 4));
    float* room = made;
    for (int64_t i = 0; i < n; ++i) room = std::copy_n(x + step.wanted[i] * width, width, room);
    return made;
}

// Of bits, since a sum of floats would be a chain of additions.
bool are_finite(const float* x, int64_t n) {
    constexpr uint32_t exponent = 0x7f800000;
    uint32_t found = 0;
    for (int64_t i = 0; i < n; ++i) found |= (std::bit_cast<uint32_t>(x[i]) & exponent) == exponent;
    return !found;
}

void choose(const DecodeStep* step, int32_t threads) {
    const float* x = wanted_rows(*step);
    const int64_t n = step->wanted_count, width = step->program.widths[step->output];
    if (step->head && !step->samplers) {
        if (!step->shortlist || !grus_shortlist(step->shortlist, x, n, width, step->best, step->places, nullptr, threads))
            grus_matmul_argmax(step->head, x, n, width, step->best, step->places, nullptr, threads);
        std::copy_n(step->places, n, step->tokens);
        return;
    }
    const float* logits = x;
    int64_t vocabulary = width;
    if (step->head) {
        static thread_local Scratch scratch;
        vocabulary = step->head->rows;
        float* made = reinterpret_cast<float*>(scratch.at_least(n * vocabulary * 4));
        multiply(*step->head, x, n, width, made, vocabulary, threads);
        logits = made;
    }
    grus_argmax(logits, n, vocabulary, step->best, step->places, threads);
    std::copy_n(step->places, n, step->tokens);
    if (step->samplers) grus_sample(logits, n, vocabulary, step->best, step->samplers, step->tokens, threads);
}

}  // namespace

extern "C" {

// Whether a largest logit, or a hidden state of any token, is no finite number.
GRUS_API int32_t grus_decode_step(const DecodeStep* step, int32_t threads) {
    find_angles(*step);
    grus_run_program(&step->program, threads);
    choose(step, threads);
    const ProgramStep& made = step->program;
    if (step->head && !are_finite(made.registers[step->output], made.tokens * made.widths[step->output])) return 1;
    return !are_finite(step->best, step->wanted_count);
}

}  // extern "C"
