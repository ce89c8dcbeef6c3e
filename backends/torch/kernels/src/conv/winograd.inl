// Winograd input and output transforms. Included by each tier after conv.inl.

struct Factors {
    float of[kPointPairs + 1];
};
constexpr Factors factors(const Polynomial& product, double by) {
    Factors made{};
    for (int k = 0; k <= kPointPairs; ++k) made.of[k] = static_cast<float>(product.of[k] * by);
    return made;
}

// Sixteen channels of ten inputs. At p the value is that of p * (x +- p) * R(x * x): R's coefficients with the even inputs, and
// with the odd ones, which enter with p's sign.
INLINE void winograd_input_sixteen(const float* const* rows, int64_t channel, float* to, int64_t point) {
    const auto input = [&](int64_t k) INLINE_LAMBDA { return load_floats(rows[k] + channel); };
    static constexpr Factors all = factors(product_without(-1), 1.0);
    Floats zero = input(8), infinity = input(9);
    unrolled<kPointPairs>([&](auto power) INLINE_LAMBDA {
        constexpr int k = decltype(power)::value;
        zero = fma(input(2 * k), broadcast(&all.of[k]), zero);
        infinity = fma(input(2 * k + 1), broadcast(&all.of[k]), infinity);
    });
    store(to, zero);
    store(to + (kWinogradPoints - 1) * point, infinity);
    unrolled<kPointPairs>([&](auto pair) INLINE_LAMBDA {
        constexpr int i = decltype(pair)::value;
        static constexpr Factors evens = factors(product_without(i), 1.0), odds = factors(product_without(i), kPointAt[i]);
        Floats even = input(8), odd = mul(input(7), broadcast(&odds.of[kPointPairs - 1]));
        unrolled<kPointPairs - 1>([&](auto power) INLINE_LAMBDA {
            constexpr int k = decltype(power)::value;
            even = fma(input(2 * k + 2), broadcast(&evens.of[k]), even);
            odd = fma(input(2 * k + 1), broadcast(&odds.of[k]), odd);
        });
        store(to + (2 * i + 1) * point, add(even, odd));
        store(to + (2 * i + 2) * point, sub(even, odd));
    });
}

void winograd_input(const float* const* rows, int64_t n, float* to, int64_t point) {
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows) winograd_input_sixteen(rows, i, to + i, point);
    if (i == n) return;
    float in[kWinogradPoints][kRows] = {}, out[kWinogradPoints][kRows];
    const float* rest[kWinogradPoints];
    const size_t bytes = static_cast<size_t>(n - i) * 4;
    for (int64_t k = 0; k < kWinogradPoints; ++k) {
        std::memcpy(in[k], rows[k] + i, bytes);
        rest[k] = in[k];
    }
    winograd_input_sixteen(rest, 0, out[0], kRows);
    for (int64_t k = 0; k < kWinogradPoints; ++k) std::memcpy(to + k * point + i, out[k], bytes);
}

// Sixteen channels of six inputs.
INLINE void block_input_sixteen(const float* const* rows, int64_t channel, float* to, int64_t point) {
    static constexpr BlockFactors f = block_factors();
    const auto input = [&](int64_t k) INLINE_LAMBDA { return load_floats(rows[k] + channel); };
    const Floats d1 = input(1), d2 = input(2), d3 = input(3), d4 = input(4), far2 = broadcast(&f.far2), near2 = broadcast(&f.near2);
    const Floats sum = broadcast(&f.sum), product = broadcast(&f.product);
    store(to, add(sub(mul(input(0), product), mul(d2, sum)), d4));
    store(to + 5 * point, add(sub(mul(d1, product), mul(d3, sum)), input(5)));
    const Floats near_even = sub(d4, mul(d2, far2)), near_odd = mul(sub(d3, mul(d1, far2)), broadcast(&f.near));
    const Floats far_even = sub(d4, mul(d2, near2)), far_odd = mul(sub(d3, mul(d1, near2)), broadcast(&f.far));
    store(to + point, add(near_even, near_odd));
    store(to + 2 * point, sub(near_even, near_odd));
    store(to + 3 * point, add(far_even, far_odd));
    store(to + 4 * point, sub(far_even, far_odd));
}

void block_input(const float* const* rows, int64_t n, float* to, int64_t point) {
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows) block_input_sixteen(rows, i, to + i, point);
    if (i == n) return;
    float in[kBlockPoints][kRows] = {}, out[kBlockPoints][kRows];
    const float* rest[kBlockPoints];
    const size_t bytes = static_cast<size_t>(n - i) * 4;
    for (int64_t k = 0; k < kBlockPoints; ++k) {
        std::memcpy(in[k], rows[k] + i, bytes);
        rest[k] = in[k];
    }
    block_input_sixteen(rest, 0, out[0], kRows);
    for (int64_t k = 0; k < kBlockPoints; ++k) std::memcpy(to + k * point + i, out[k], bytes);
}

void block_output(const WinogradOutputs& c) {
    static constexpr BlockPowers p = block_powers();
    const auto product = [&](int64_t k) INLINE_LAMBDA { return load_floats(c.products + k * c.point); };
    const Floats near_sum = add(product(1), product(2)), near_difference = sub(product(1), product(2));
    const Floats far_sum = add(product(3), product(4)), far_difference = sub(product(3), product(4));
    const Floats bias = load_floats(c.bias);
    const Floats y[kBlockOutputs] = {
        add(add(bias, product(0)), add(near_sum, far_sum)),
        fma(near_difference, broadcast(&p.near), fma(far_difference, broadcast(&p.far), bias)),
        fma(near_sum, broadcast(&p.near2), fma(far_sum, broadcast(&p.far2), bias)),
        fma(near_difference, broadcast(&p.near3), fma(far_difference, broadcast(&p.far3), add(bias, product(5)))),
    };
    UNROLL for (int64_t j = 0; j < kBlockOutputs; ++j) {
        if (j < c.outputs) write_row(y[j], c.add ? c.add + j * c.next : nullptr, c.y + j * c.next, c.columns);
    }
}

// Output j is the sum over points of p^j times the product there; even powers are alike for p and -p, odd ones opposite.
void winograd_output(const WinogradOutputs& c) {
    const auto product = [&](int64_t k) INLINE_LAMBDA { return load_floats(c.products + k * c.point); };
    Floats y[kWinogradOutputs];
    const Floats bias = load_floats(c.bias);
    y[0] = add(bias, product(0));
    y[1] = y[2] = bias;
    y[3] = add(bias, product(kWinogradPoints - 1));
    unrolled<kPointPairs>([&](auto pair) INLINE_LAMBDA {
        constexpr int i = decltype(pair)::value;
        static constexpr float p = static_cast<float>(kPointAt[i]), p2 = static_cast<float>(kPointAt[i] * kPointAt[i]),
                               p3 = static_cast<float>(kPointAt[i] * kPointAt[i] * kPointAt[i]);
        const Floats one = product(2 * i + 1), other = product(2 * i + 2), sum = add(one, other), difference = sub(one, other);
        y[0] = add(y[0], sum);
        y[1] = fma(difference, broadcast(&p), y[1]);
        y[2] = fma(sum, broadcast(&p2), y[2]);
        y[3] = fma(difference, broadcast(&p3), y[3]);
    });
    UNROLL for (int64_t j = 0; j < kWinogradOutputs; ++j) {
        if (j < c.outputs) write_row(y[j], c.add ? c.add + j * c.next : nullptr, c.y + j * c.next, c.columns);
    }
}
