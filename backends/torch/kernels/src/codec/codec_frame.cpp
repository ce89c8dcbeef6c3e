// Completes a frame of speech codec tokens: for each codebook a pass through the code predictor's layers, its head, sampling, and the
// embedding of the chosen code, which is the next input. One call per frame, since a pass takes only two milliseconds.
#include <cstring>

#include "arch/dispatch.hpp"
#include "codec/codec_frame.hpp"
#include "common/half_float.hpp"
#include "common/thread_pool.hpp"
#include "matmul/matmul.hpp"
#include "sampling/sample.hpp"

using namespace grus;

extern "C" {

GRUS_API void grus_run_program(const ProgramStep* step, int32_t threads);
GRUS_API void grus_rows(const GrusMatrix* m, const int64_t* ids, int64_t n, float* out, int32_t threads);

}  // extern "C"

namespace grus {
namespace {

void embed(const GrusMatrix& table, int64_t id, float* out) {
    if (!table.row_bytes) {
        grus_rows(&table, &id, 1, out, 1);
        return;
    }
    if (const GrusBf12* bf12 = table.bf12) {
        bf12_row(current_tier(), table, *bf12, id, out);
        return;
    }
    const uint8_t* row = table.data + id * table.row_bytes;
    if (table.format.code == Code::F32) {
        std::memcpy(out, row, static_cast<size_t>(table.columns) * 4);
        return;
    }
    for (int64_t c = 0; c < table.columns; ++c) {
        uint16_t half;
        std::memcpy(&half, row + 2 * c, 2);
        out[c] = table.format.code == Code::F16 ? from_f16(half) : from_bf16(half);
    }
}

void run_pass(const CodecFrame& f, int64_t at, int threads) {
    const ProgramStep& pass = f.passes[at];
    const int64_t each = pass.tokens / f.sequences, in = pass.widths[f.input], out = pass.widths[f.output];
    float* input = pass.registers[f.input];
    if (f.narrow) multiply(*f.narrow, f.x, pass.tokens, f.width, input, in, threads);
    else std::memcpy(input, f.x, static_cast<size_t>(pass.tokens * in) * 4);
    grus_run_program(&pass, threads);
    const float* last = pass.registers[f.output] + (each - 1) * out;
    multiply(*f.heads[at], last, f.sequences, each * out, f.logits, f.vocab, threads);
}

// A sequence's next code, its embedding, and the sum so far.
void choose(const CodecFrame& f, int64_t at, int64_t sequence) {
    int32_t* code = f.codes + sequence * (1 + f.count) + 1 + at;
    grus_draw(f.logits + sequence * f.vocab, 1, f.vocab, f.noise + sequence * f.count + at, f.random + sequence, f.temperature,
              f.top_k, f.top_p, code);
    float *x = f.x + sequence * f.width, *total = f.total + sequence * f.width;
    embed(*f.tables[at], *code, x);
    for (int64_t c = 0; c < f.width; ++c) total[c] += x[c];
}

}  // namespace
}  // namespace grus

extern "C" {

GRUS_API void grus_codec_frame(const CodecFrame* frame, int32_t threads) {
    const CodecFrame& f = *frame;
    const size_t row = static_cast<size_t>(f.width) * 4;
    for (int64_t s = 0; s < f.sequences; ++s) {
        std::memcpy(f.x + 2 * s * f.width, f.hidden + s * f.width, row);
        std::memcpy(f.x + (2 * s + 1) * f.width, f.total + s * f.width, row);
    }
    for (int64_t at = 0; at < f.count; ++at) {
        run_pass(f, at, threads);
        parallel(f.sequences, 1, threads, [&](int64_t begin, int64_t end) {
            for (int64_t s = begin; s < end; ++s) choose(f, at, s);
        });
    }
}

}  // extern "C"
