// Drawing the next id of a few rows of logits in one call: what a frame's codes are chosen with.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu.hpp"
#include "matrix.hpp"

extern "C" {

GRUS_API void grus_top(const float* x, int64_t rows, int64_t n, int64_t k, float* values, int64_t* places, int32_t threads);

// Of the `k` largest of each row and of these the first that hold `top_p` of the mass: the one where the running mass exceeds
// noise * all of it. Where `random` is 0, or a number is NaN, the largest.
GRUS_API void grus_draw(const float* logits, int64_t rows, int64_t n, const float* noise, const int32_t* random,
                        float temperature, int64_t k, float top_p, int32_t* ids) {
    constexpr float below_one = 1.0f - 1e-6f;  // keeps a bound below the whole mass however sums are rounded
    static thread_local std::vector<float> values;
    static thread_local std::vector<int64_t> places;
    values.resize(static_cast<size_t>(k));
    places.resize(static_cast<size_t>(k));
    for (int64_t row = 0; row < rows; ++row) {
        const float* x = logits + row * n;
        const float peak = grus::current_tier().peak(x, n);
        ids[row] = static_cast<int32_t>(peak == peak ? std::find(x, x + n, peak) - x : 0);
        if (temperature <= 0 || random[row] == 0 || peak != peak) continue;
        grus_top(x, 1, n, k, values.data(), places.data(), 1);
        float whole = 0.0f;
        for (float& value : values) whole += value = std::exp((value - peak) / temperature);
        int64_t kept = 0;
        float mass = 0.0f;
        while (kept < k && (kept == 0 || mass < top_p * whole)) mass += values[static_cast<size_t>(kept++)];
        const float bound = noise[row] * mass * below_one;
        int64_t at = 0;
        for (float running = values[0]; running <= bound && at + 1 < kept;) running += values[static_cast<size_t>(++at)];
        ids[row] = static_cast<int32_t>(places[static_cast<size_t>(at)]);
    }
}

}  // extern "C"
