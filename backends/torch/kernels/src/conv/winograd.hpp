// A convolution of seven taps with fewer multiplications, after Toom and Cook. Four neighbouring outputs of seven taps are 28
// products. But inputs and weights may be taken for polynomials, whose product is known by its values at ten points; so ten
// inputs become ten values, the weights become ten values once, ten products are made (summed over all inputs, at each point
// for itself), and these become four outputs. A dilated convolution is as many plain ones, one between the other.
//
// The points are zero, infinity and four pairs p, -p, chosen for the smallest error among those that were tried: each with its
// reciprocal, so that no power of one is far from another's.
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
