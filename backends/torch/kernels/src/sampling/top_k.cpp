// Argmax, top-k and softmax mass of rows. Each is computed from the maxima of short chunks, so a row is read once, by all threads.
#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "arch/dispatch.hpp"
#include "common/half_float.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "matmul/matmul.hpp"
#include "sampling/top_k.hpp"

using namespace grus;

namespace {

constexpr int64_t kFew = 1024;  // as many are put in order faster than all
constexpr int64_t kPiece = 64, kLeast = 16;  // numbers of a piece; of one where the best of a short row are looked for

struct Rows32 {
    const float* x;
    int64_t rows, n, length = kPiece;
    int64_t pieces() const { return (n + length - 1) / length; }
    const float* piece(int64_t row, int64_t i) const { return x + row * n + i * length; }
    int64_t size(int64_t i) const { return std::min(length, n - i * length); }
};

// f(row, piece) for all pieces of all rows
template <class F>
void each_piece(const Rows32& rows, int threads, const F& f) {
    const int64_t many = rows.pieces();
    parallel(rows.rows * many, 1 << 8, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) f(i / many, i % many);
    });
}

std::vector<float> peaks_of(const Rows32& rows, int threads) {
    const Tier& tier = current_tier();
    std::vector<float> peaks(static_cast<size_t>(rows.rows * rows.pieces()));
    each_piece(rows, threads, [&](int64_t row, int64_t i) {
        peaks[static_cast<size_t>(row * rows.pieces() + i)] = tier.peak(rows.piece(row, i), rows.size(i));
    });
    return peaks;
}

// Places by falling number, equals by place. A number and its place in one integer: no memory but this is looked at.
void put_in_order(const float* numbers, std::vector<int64_t>& places) {
    std::vector<uint64_t> keys;
    keys.reserve(places.size());
    for (const int64_t place : places) {
        const uint32_t bits = as_bits(numbers[place] + 0.0f);  // there is one zero
        const uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
        keys.push_back(static_cast<uint64_t>(~rising) << 32 | static_cast<uint64_t>(place));
    }
    std::sort(keys.begin(), keys.end());
    std::transform(keys.begin(), keys.end(), places.begin(), [](uint64_t key) { return static_cast<int64_t>(key & 0xffffffffu); });
}

}  // namespace

extern "C" {

GRUS_API void grus_argmax(const float* x, int64_t rows, int64_t n, float* best, int64_t* places, int32_t threads) {
    const Rows32 all{x, rows, n};
    const std::vector<float> peaks = peaks_of(all, threads);
    for (int64_t row = 0; row < rows; ++row) {
        const float* mine = peaks.data() + row * all.pieces();
        best[row] = current_tier().peak(mine, all.pieces());
        places[row] = 0;
        if (best[row] != best[row]) continue;
        const int64_t piece = std::find(mine, mine + all.pieces(), best[row]) - mine;
        const float* from = all.piece(row, piece);
        places[row] = std::find(from, from + all.size(piece), best[row]) - (x + row * n);
    }
}

GRUS_API void grus_top_k(const float* x, int64_t rows, int64_t n, int64_t k, float* values, int64_t* places, int32_t threads) {
    const Rows32 all{x, rows, n, n < 2 * k * kPiece ? kLeast : kPiece};  // pieces are of use where there are many more than k
    const std::vector<float> peaks = peaks_of(all, threads);
    std::vector<float> sorted;
    std::vector<int64_t> found;
    for (int64_t row = 0; row < rows; ++row) {
        const float* mine = peaks.data() + row * all.pieces();
        const float* numbers = x + row * n;
        sorted.assign(mine, mine + all.pieces());
        float least = -std::numeric_limits<float>::infinity();
        if (k <= all.pieces()) {  // k pieces reach this far, so k numbers do
            std::nth_element(sorted.begin(), sorted.begin() + (k - 1), sorted.end(), std::greater<float>());
            least = sorted[static_cast<size_t>(k - 1)];
        }
        found.clear();
        for (int64_t i = 0; i < all.pieces(); ++i) {
            if (mine[i] < least) continue;
            for (int64_t at = i * all.length; at < i * all.length + all.size(i); ++at)
                if (numbers[at] >= least) found.push_back(at);
        }
        if (k <= kFew) {
            std::partial_sort(found.begin(), found.begin() + k, found.end(), [&](int64_t a, int64_t b) {
                return numbers[a] > numbers[b] || (numbers[a] == numbers[b] && a < b);
            });
        } else {
            put_in_order(numbers, found);
        }
        for (int64_t i = 0; i < k; ++i) {
            places[row * k + i] = found[static_cast<size_t>(i)];
            values[row * k + i] = numbers[found[static_cast<size_t>(i)]];
        }
    }
}

GRUS_API void grus_softmax_mass(const float* x, int64_t rows, int64_t n, const float* best, const float* temperatures, float* out,
                        int32_t threads) {
    const Rows32 all{x, rows, n};
    const Tier& tier = current_tier();
    std::vector<float> parts(static_cast<size_t>(rows * all.pieces()));
    each_piece(all, threads, [&](int64_t row, int64_t i) {
        parts[static_cast<size_t>(row * all.pieces() + i)] =
            tier.mass(all.piece(row, i), all.size(i), best[row], 1.0f / temperatures[row]);
    });
    for (int64_t row = 0; row < rows; ++row) {
        double total = 0.0;
        for (int64_t i = 0; i < all.pieces(); ++i) total += parts[static_cast<size_t>(row * all.pieces() + i)];
        out[row] = static_cast<float>(total);
    }
}

GRUS_API void grus_matmul_argmax(const GrusMatrix* m, const float* x, int64_t tokens, int64_t x_stride, float* best,
                                   int64_t* places, float* mass, int32_t threads) {
    static thread_local Scratch scratch;  // fresh memory for so many results at each call would take longer than the search
    float* results = reinterpret_cast<float*>(scratch.at_least(tokens * m->rows * 4));
    multiply(*m, x, tokens, x_stride, results, m->rows, threads);
    grus_argmax(results, tokens, m->rows, best, places, threads);
    const std::vector<float> cold(static_cast<size_t>(tokens), 1.0f);
    if (mass) grus_softmax_mass(results, tokens, m->rows, best, cold.data(), mass, threads);
}

}  // extern "C"
