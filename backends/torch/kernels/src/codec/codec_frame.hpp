// Arguments of `grus_codec_frame`. The struct is part of the C ABI (library.py).
#pragma once
#include "program/program.hpp"

namespace grus {

// `sequences` frames at once. The first pass takes two tokens of each, its hidden state and the first code's embedding.
struct CodecFrame {
    const ProgramStep* passes;  // [count]
    int64_t count, sequences, width, vocab;  // codes that are missing; numbers of an embedding; of logits
    int64_t input, output;                   // the layers' registers
    const GrusMatrix* narrow;                // from an embedding to the layers' input; may be null
    const GrusMatrix *const *heads, *const *tables;  // [count]
    const float* hidden;                             // [sequences][width]
    const float* noise;                              // [sequences][count]
    const int32_t* random;                           // [sequences]
    int64_t top_k;
    float temperature, top_p;
    float *x, *logits;  // room for [2 * sequences][width] and [sequences][vocab]
    int32_t* codes;     // [sequences][1 + count]; the first are given
    float* total;       // [sequences][width]: the first codes' embeddings, then the sum of all codes'
};

}  // namespace grus
