// Argmax of a product without computing all of it: an 8-bit copy bounds each logit, and only candidates are computed exactly. See
// backends/torch/greedy_head.py.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "arch/dispatch.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "matmul/matmul.hpp"
#include "sampling/shortlist.hpp"
#include "sampling/top_k.hpp"

using namespace grus;

namespace {

constexpr int64_t kPiece = 64, kPieces = 16;  // rows of a piece; pieces that one thread is done with before another has woken
constexpr float kCodes = 127.0f;              // of an input's byte, on each side
constexpr float kTiny = 1e-35f;               // inputs as small as this may become nothing

// How long a token's inputs are, and at most how far from it is what the kernels make of them before they multiply bytes.
struct Lengths { float whole, error; };

Lengths lengths_of(const float* x, int64_t columns) {
    double squares = 0.0, errors = 0.0;
    for (int64_t at = 0; at < columns; at += kBlock) {
        float peak = 0.0f;
        for (int64_t i = at; i < std::min(columns, at + kBlock); ++i) {
            squares += static_cast<double>(x[i]) * x[i];
            peak = std::max(peak, std::fabs(x[i]));
        }
        const double most = peak < kTiny ? peak : peak * (0.5005f / kCodes);  // half a step, and what its scale is rounded by
        errors += kBlock * most * most;
    }
    return {static_cast<float>(std::sqrt(squares)), static_cast<float>(std::sqrt(errors))};
}

struct Search {
    const GrusShortlist& list;
    const float* coarse;  // [tokens, rows]
    std::vector<Lengths> lengths;
    int threads;

    int64_t rows() const { return list.head->rows; }
    int64_t pieces() const { return (rows() + kPiece - 1) / kPiece; }
    // What the rows of a piece may be at the least (sign -1) or at the most (1); the largest of these.
    float bound(size_t token, int64_t piece, float sign, float* made) const {
        const int64_t first = piece * kPiece, count = std::min(kPiece, rows() - first);
        const float *value = coarse + static_cast<int64_t>(token) * rows() + first, *off = list.off + first, *length = list.length + first;
        const float whole = sign * lengths[token].whole, error = sign * lengths[token].error;
        for (int64_t i = 0; i < count; ++i) made[i] = value[i] + off[i] * whole + length[i] * error;
        return current_tier().peak(made, count);
    }

    // The rows that may be the largest for some token, in order.
    std::vector<int64_t> candidates() const {
        const size_t tokens = lengths.size();
        std::vector<float> least(tokens * static_cast<size_t>(pieces()));
        parallel(pieces(), kPieces, threads, [&](int64_t begin, int64_t end) {
            float made[kPiece];
            for (int64_t p = begin; p < end; ++p)
                for (size_t t = 0; t < tokens; ++t) least[t * static_cast<size_t>(pieces()) + static_cast<size_t>(p)] = bound(t, p, -1.0f, made);
        });
        std::vector<float> surely(tokens);
        for (size_t t = 0; t < tokens; ++t) surely[t] = current_tier().peak(least.data() + static_cast<int64_t>(t) * pieces(), pieces());
        std::vector<uint8_t> found(static_cast<size_t>(rows()));
        parallel(pieces(), kPieces, threads, [&](int64_t begin, int64_t end) {
            float made[kPiece];
            for (int64_t p = begin; p < end; ++p) {
                for (size_t t = 0; t < tokens; ++t) {
                    if (bound(t, p, 1.0f, made) < surely[t]) continue;
                    for (int64_t i = 0; i < std::min(kPiece, rows() - p * kPiece); ++i)
                        if (made[i] >= surely[t]) found[static_cast<size_t>(p * kPiece + i)] = 1;
                }
            }
        });
        std::vector<int64_t> rows;
        for (auto at = found.begin(); (at = std::find(at, found.end(), 1)) != found.end(); ++at) rows.push_back(at - found.begin());
        return rows;
    }
};

// The rows themselves, one below the other.
GrusMatrix picked(const GrusMatrix& head, const std::vector<int64_t>& rows, uint8_t* room) {
    const int64_t bytes = head.columns * 4;
    for (size_t i = 0; i < rows.size(); ++i)
        std::memcpy(room + static_cast<int64_t>(i) * bytes, head.data + rows[i] * head.row_bytes, static_cast<size_t>(bytes));
    GrusMatrix made = head;
    made.rows = static_cast<int64_t>(rows.size());
    made.data = room;
    made.row_bytes = bytes;
    return made;
}

}  // namespace

extern "C" {

GRUS_API bool grus_shortlist(const GrusShortlist* list, const float* x, int64_t tokens, int64_t x_stride, float* best, int64_t* places,
                             float* mass, int32_t threads) {
    static thread_local Scratch scratch, room;
    const GrusMatrix& head = *list->head;
    if (uses_prompt_product(current_tier(), *list->coarse, tokens)) return false;  // they are not multiplied in bytes
    Search search{*list, nullptr, {}, threads};
    for (int64_t t = 0; t < tokens; ++t) {
        search.lengths.push_back(lengths_of(x + t * x_stride, head.columns));
        if (!(search.lengths.back().whole < list->longest_input)) return false;
    }
    float* coarse = reinterpret_cast<float*>(scratch.at_least(tokens * head.rows * 4));
    multiply(*list->coarse, x, tokens, x_stride, coarse, head.rows, threads);
    search.coarse = coarse;
    const std::vector<int64_t> rows = search.candidates();
    const int64_t count = static_cast<int64_t>(rows.size());
    if (count == 0 || count > list->most) return false;
    float* exact = reinterpret_cast<float*>(room.at_least((tokens + head.columns) * count * 4));
    const GrusMatrix few = picked(head, rows, reinterpret_cast<uint8_t*>(exact + tokens * count));
    multiply(few, x, tokens, x_stride, exact, count, threads);
    for (int64_t t = 0; t < tokens; ++t) {
        const float *row = exact + t * count, *at = std::max_element(row, row + count);  // the first of equals
        best[t] = *at;
        places[t] = rows[static_cast<size_t>(at - row)];
        for (size_t i = 0; i < rows.size(); ++i) coarse[t * head.rows + rows[i]] = row[i];
    }
    const std::vector<float> cold(static_cast<size_t>(tokens), 1.0f);
    if (mass) grus_softmax_mass(coarse, tokens, head.rows, best, cold.data(), mass, threads);
    return true;
}

}  // extern "C"
