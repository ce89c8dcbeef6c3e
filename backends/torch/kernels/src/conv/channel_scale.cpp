// Normalization of each channel over all positions, as the scale and shift that it comes to: a convolution applies them to what it
// reads, so that the normalized array is never written.
#include <cmath>
#include <vector>

#include "arch/dispatch.hpp"
#include "arch/tier.hpp"
#include "common/thread_pool.hpp"
#include "formats/matrix.hpp"

namespace grus {
namespace {

constexpr int64_t kPortion = 1024;  // rows; sums of portions are added in one order, whatever the threads

}  // namespace
}  // namespace grus

using namespace grus;

extern "C" {

// x [rows, n]: x * scale + shift is (x - mean) / sqrt(variance + eps) * gain + bias of each channel. `rows` is not zero.
GRUS_API void grus_channel_scale(const float* x, int64_t rows, int64_t n, const float* gain, const float* bias, float eps,
                                 float* scale, float* shift, int32_t threads) {
    const Tier& tier = current_tier();
    const int64_t portions = (rows + kPortion - 1) / kPortion;
    std::vector<double> sums(static_cast<size_t>(portions * 2 * n), 0.0);
    // The first row as the pivot: sums of squares far from zero would lose the variance.
    parallel(portions, 1, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            double* own = sums.data() + i * 2 * n;
            const int64_t first = i * kPortion, count = first + kPortion < rows ? kPortion : rows - first;
            tier.moments(x + first * n, count, n, x, own, own + n);
        }
    });
    for (int64_t c = 0; c < n; ++c) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < portions; ++i) {
            sum += sums[static_cast<size_t>(i * 2 * n + c)];
            squares += sums[static_cast<size_t>((i * 2 + 1) * n + c)];
        }
        const double off = sum / static_cast<double>(rows), mean = static_cast<double>(x[c]) + off;
        const double variance = squares / static_cast<double>(rows) - off * off;
        const double factor = static_cast<double>(gain[c]) / std::sqrt((variance > 0 ? variance : 0) + static_cast<double>(eps));
        scale[c] = static_cast<float>(factor);
        shift[c] = static_cast<float>(static_cast<double>(bias[c]) - mean * factor);
    }
}

}  // extern "C"
