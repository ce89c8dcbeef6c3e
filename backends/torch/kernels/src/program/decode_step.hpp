// A step that adds a few tokens to each of some sequences, from their ids to the next tokens, in one call. The structs are part of the C ABI
// (library.py).
#pragma once
#include "program/program.hpp"
#include "sampling/sample.hpp"
#include "sampling/shortlist.hpp"

namespace grus {

// Rows of angles, `width` numbers each, of the positions from `first` on.
struct PositionTable {
    const float *cos, *sin;
    int64_t first, width;
};

struct DecodeStep {
    ProgramStep program;           // `angles` are those below
    const PositionTable* tables;   // [inputs][tokens]
    int64_t inputs;                // that have a row for each position
    const int64_t* positions;
    const float** angles;          // room for their addresses, [inputs][cos, sin]
    float* rows;                   // and for the rows of several tokens
    int64_t output;                // the register that the head reads, or that holds logits
    const int64_t* wanted;         // the tokens whose next ones are chosen, ascending; arrays below have one entry for each
    int64_t wanted_count;
    const GrusMatrix* head;        // null: the program has computed the logits
    const GrusShortlist* shortlist;  // of the head; null: there is none
    const GrusSampler* samplers;   // null: each token is the likeliest
    float* best;                   // the largest logit of each
    int64_t* places;               // its index
    int32_t* tokens;               // the next ones
};

}  // namespace grus
