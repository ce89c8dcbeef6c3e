// Arguments of `grus_shortlist`. The struct is part of the C ABI (library.py).
#pragma once
#include "formats/matrix.hpp"

extern "C" {
struct GrusShortlist {
    const GrusMatrix* head;    // f32, its rows as in a file, no bias
    const GrusMatrix* coarse;  // the same in bytes
    const float* off;          // how far each coarse row is from the row that it stands for
    const float* length;       // of each coarse row
    float longest_input;       // none that reaches it is looked at: something may overflow, or is no number
    int64_t most;              // rows that are multiplied as they are; with more, all may be
};

// Of each token the largest result of `head` and its place, equals by the lower one, bit for bit as of the whole product. False
// where that takes the whole product. `mass`, unless null: the sum of exp(result - largest) of all rows, nearly.
GRUS_API bool grus_shortlist(const GrusShortlist* list, const float* x, int64_t tokens, int64_t x_stride, float* best, int64_t* places,
                             float* mass, int32_t threads);
}
