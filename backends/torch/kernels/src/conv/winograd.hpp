// Winograd / Toom-Cook convolution, F(4, 7): four outputs of seven taps by ten multiplications instead of 28. Inputs and weights are
// treated as polynomials, whose product is determined by its values at ten points: ten inputs are transformed to ten values, the
// weights to ten values once, ten products are summed over all inputs at each point, and then transformed to four outputs. A dilated
// convolution is several interleaved plain ones.
//
// The points are zero, infinity and four pairs p, -p, the set with the smallest measured error. Each p comes with its reciprocal, so
// that the powers of all points have similar magnitudes.
#pragma once
#include <cstdint>

namespace grus {

constexpr int64_t kWinogradTaps = 7, kWinogradOutputs = 4, kWinogradPoints = kWinogradTaps + kWinogradOutputs - 1;
constexpr int kPointPairs = 4;
constexpr double kPointAt[kPointPairs] = {0.5, 0.8, 1.25, 2.0};

// Values lie in this order: at zero, at each pair's p and -p, at infinity.
constexpr double point_at(int64_t point) { return point == 0 ? 0.0 : kPointAt[(point - 1) / 2] * (point % 2 ? 1.0 : -1.0); }

// The product of all (z - p * p) but one pair's (-1: of all), by powers of z. Its last coefficient is 1.
struct Polynomial {
    double of[kPointPairs + 1];
};
constexpr Polynomial product_without(int pair) {
    Polynomial made{{1.0}};
    int degree = 0;
    for (int i = 0; i < kPointPairs; ++i) {
        if (i == pair) continue;
        for (int k = ++degree; k >= 0; --k) made.of[k] = (k ? made.of[k - 1] : 0.0) - made.of[k] * kPointAt[i] * kPointAt[i];
    }
    return made;
}

// What a tap's weight adds to the weights' value at a point.
constexpr double weight_at(int64_t point, int64_t tap) {
    if (point == kWinogradPoints - 1) return tap == kWinogradTaps - 1 ? 1.0 : 0.0;
    double power = 1.0, distance = 1.0;
    for (int64_t k = 0; k < tap; ++k) power *= point_at(point);
    for (int64_t other = 0; other < kWinogradPoints - 1; ++other)
        if (other != point) distance *= point_at(point) - point_at(other);
    return power / distance;
}

}  // namespace grus
