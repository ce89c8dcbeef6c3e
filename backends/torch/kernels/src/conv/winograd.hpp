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

// F(4, 3): four outputs of three taps by six multiplications instead of twelve. A longer kernel is blocks of three taps, whose products
// are summed at each point before they become outputs, so any number of taps gains nearly as much as three do. With six points the
// rounding of values is 1.3 to 2.2 times that of a plain product, where ten points have ten times: it serves bf16 too.
constexpr int64_t kBlockTaps = 3, kBlockOutputs = 4, kBlockPoints = kBlockTaps + kBlockOutputs - 1;
constexpr int64_t kMostBlockTaps = 63;
constexpr double kNearPoint = 0.65, kFarPoint = 1.5;  // both signs, zero and infinity; of a grid, the pair with the smallest error

struct BlockFactors {  // of the inputs' values
    float near, far, near2, far2, sum, product;
};
constexpr BlockFactors block_factors() {
    constexpr double near2 = kNearPoint * kNearPoint, far2 = kFarPoint * kFarPoint;
    return {static_cast<float>(kNearPoint), static_cast<float>(kFarPoint), static_cast<float>(near2), static_cast<float>(far2),
            static_cast<float>(near2 + far2), static_cast<float>(near2 * far2)};
}
// Of the outputs: powers of the points.
struct BlockPowers {
    float near, near2, near3, far, far2, far3;
};
constexpr BlockPowers block_powers() {
    return {static_cast<float>(kNearPoint), static_cast<float>(kNearPoint * kNearPoint),
            static_cast<float>(kNearPoint * kNearPoint * kNearPoint), static_cast<float>(kFarPoint),
            static_cast<float>(kFarPoint * kFarPoint), static_cast<float>(kFarPoint * kFarPoint * kFarPoint)};
}
// What a tap's weight adds to the weights' value at a point: at zero, near and minus near, far and minus far, at infinity.
constexpr double block_weight_at(int64_t point, int64_t tap) {
    constexpr double near2 = kNearPoint * kNearPoint, far2 = kFarPoint * kFarPoint;
    if (point == 0) return tap == 0 ? 1.0 / (near2 * far2) : 0.0;
    if (point == kBlockPoints - 1) return tap == kBlockTaps - 1 ? 1.0 : 0.0;
    const double at = (point > 2 ? kFarPoint : kNearPoint) * (point % 2 ? 1.0 : -1.0);
    const double own = point > 2 ? far2 : near2, other = point > 2 ? near2 : far2;
    double power = 1.0;
    for (int64_t k = 0; k < tap; ++k) power *= at;
    return power / (2.0 * own * (own - other));
}

}  // namespace grus
