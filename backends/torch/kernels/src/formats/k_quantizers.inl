// The search for a K-quant block's scales. Compiled for the baseline CPU and for AVX2. All sums are pairwise (halves added to halves),
// so that both versions, and numpy's, give the same bits.

// Rounded, ties to even, for numbers of less than 22 bits: adding pushes the fraction out of the mantissa.
INLINE float nearest(float x) { return (x + 12582912.0f) - 12582912.0f; }
INLINE float clipped(float x, float low, float high) {
    x = x < low ? low : x;  // two choices, not a nested one: so compilers see a minimum and a maximum
    return x > high ? high : x;
}
INLINE float quotient(float a, float b) { return b > 0.0f ? a / b : 0.0f; }

// 1 / d, and 0 where d is so small that nothing can be told from it.
INLINE float inverse(float d) { return std::fabs(d) > 1e-30f ? 1.0f / d : 0.0f; }

// Groups are fitted side by side: number i of group j lies at i * G + j, so that a vector holds one number of each. `fold` adds
// n numbers a group, halves to halves, into the first.
template <int N, int G>
INLINE void fold(float* x) {
    if constexpr (N > 1) {
        for (int k = 0; k < N / 2 * G; ++k) x[k] += x[k + N / 2 * G];
        fold<N / 2, G>(x);
    }
}

template <int N, int G>
INLINE void sums(const float* x, float* out) {
    float half[N / 2 * G];
    for (int k = 0; k < N / 2 * G; ++k) half[k] = x[k] + x[k + N / 2 * G];
    fold<N / 2, G>(half);
    for (int j = 0; j < G; ++j) out[j] = half[j];
}

template <int N, int G>
INLINE void dots(const float* x, const float* y, float* out) {
    float half[N / 2 * G];
    for (int k = 0; k < N / 2 * G; ++k) half[k] = x[k] * y[k] + x[k + N / 2 * G] * y[k + N / 2 * G];
    fold<N / 2, G>(half);
    for (int j = 0; j < G; ++j) out[j] = half[j];
}

INLINE float square_sum(const float* x) {
    float total;
    dots<kSuper, 1>(x, x, &total);
    return total;
}

template <int N, int G>
INLINE void side_by_side(const float* x, float* to) {
    for (int j = 0; j < G; ++j) {
        for (int i = 0; i < N; ++i) to[i * G + j] = x[j * N + i];
    }
}

INLINE bool moderate(const float* x) {  // neither NaN nor beyond what any scale reaches
    int odd = 0;
    for (int i = 0; i < kSuper; ++i) odd += !(std::fabs(x[i]) <= kMost);
    return odd == 0;
}

constexpr int kRanges = 8, kRange = 32;  // Q4_K's groups
struct Ranges {
    float step[kRanges], start[kRanges];
};

// Keeps for each group of two ways to write it the one with the smaller squared error.
INLINE void weigh(const float* x, const float* q, const Ranges& fit, Ranges& best, float* least) {
    float error[kSuper], loss[kRanges];
    for (int i = 0; i < kRange; ++i) {
        for (int j = 0; j < kRanges; ++j) {
            const int k = i * kRanges + j;
            error[k] = (q[k] * fit.step[j] + fit.start[j]) - x[k];
        }
    }
    dots<kRange, kRanges>(error, error, loss);
    for (int j = 0; j < kRanges; ++j) {
        const bool better = (loss[j] < least[j]) & (fit.step[j] >= 0.0f);
        best.step[j] = better ? fit.step[j] : best.step[j];
        best.start[j] = better ? fit.start[j] : best.start[j];
        least[j] = better ? loss[j] : least[j];
    }
}

INLINE void code_ranges(const float* x, const float* low, const float* rate, float reach, float* q) {
    for (int i = 0; i < kRange; ++i) {
        for (int j = 0; j < kRanges; ++j) {
            const int k = i * kRanges + j;
            q[k] = nearest(clipped(((x[k] - low[j]) * rate[j]) * reach, 0.0f, 15.0f));
        }
    }
}

// `plain` goes from each group's least number (at most 0) to its greatest in 15 steps; `span` is how far that is.
INLINE void fit_ranges(const float* in_order, const Ranges& plain, const float* span, Ranges& best) {
    constexpr float n = kRange;
    float x[kSuper], q[kSuper], least[kRanges], rate[kRanges], total[kRanges];
    float sum_q[kRanges], sum_qq[kRanges], sum_xq[kRanges];
    side_by_side<kRange, kRanges>(in_order, x);
    sums<kRange, kRanges>(x, total);
    best = plain;
    for (int j = 0; j < kRanges; ++j) least[j] = INFINITY, rate[j] = inverse(plain.step[j]);
    code_ranges(x, plain.start, rate, 1.0f, q);
    weigh(x, q, plain, best, least);
    for (int j = 0; j < kRanges; ++j) rate[j] = inverse(span[j]);
    for (int turn = 0; turn < 9; ++turn) {
        code_ranges(x, plain.start, rate, static_cast<float>(14 + turn / 5.0), q);
        sums<kRange, kRanges>(q, sum_q);
        dots<kRange, kRanges>(q, q, sum_qq);
        dots<kRange, kRanges>(x, q, sum_xq);
        Ranges fit;
        for (int j = 0; j < kRanges; ++j) {
            const float step = quotient(n * sum_xq[j] - total[j] * sum_q[j], n * sum_qq[j] - sum_q[j] * sum_q[j]);
            const float start = (total[j] - step * sum_q[j]) / n;
            const bool positive = start > 0.0f;  // a minimum is never above 0: then a line through 0
            fit.step[j] = positive ? quotient(sum_xq[j], sum_qq[j]) : step;
            fit.start[j] = positive ? 0.0f : start;
        }
        weigh(x, q, fit, best, least);
    }
}

// Writes the block for these steps and starts. Returns its squared error, infinite where it cannot be written.
INLINE float pack_q4_k(const float* x, const Ranges& fit, uint8_t* out) {
    float top = fit.step[0], deep = 0.0f;
    for (int j = 0; j < kRanges; ++j) {
        top = fit.step[j] > top ? fit.step[j] : top;
        deep = std::fabs(fit.start[j]) > deep ? std::fabs(fit.start[j]) : deep;
    }
    const uint16_t d16 = to_f16(top / 63.0f), m16 = to_f16(deep / 63.0f);
    const float d = from_f16(d16), m = from_f16(m16);
    if (!std::isfinite(d) || !std::isfinite(m)) return INFINITY;
    std::memset(out, 0, kQ4KBytes);
    std::memcpy(out, &d16, 2);
    std::memcpy(out + 2, &m16, 2);
    float error[kSuper];
    uint8_t codes[kSuper];
    const float of_d = inverse(d), of_m = inverse(m);
    for (int j = 0; j < kRanges; ++j) {
        const float scale = nearest(clipped(fit.step[j] * of_d, 0.0f, 63.0f));
        const float floor = nearest(clipped(std::fabs(fit.start[j]) * of_m, 0.0f, 63.0f));
        const float step = d * scale, start = m * floor, fine = inverse(step);
        for (int i = 32 * j; i < 32 * j + 32; ++i) {
            const float q = nearest(clipped((x[i] + start) * fine, 0.0f, 15.0f));
            error[i] = (step * q - start) - x[i];
            codes[i] = static_cast<uint8_t>(q);
        }
        const int s = static_cast<int>(scale), f = static_cast<int>(floor);
        uint8_t* packed = out + 4;
        if (j < 4) {
            packed[j] = static_cast<uint8_t>(packed[j] | s);
            packed[j + 4] = static_cast<uint8_t>(packed[j + 4] | f);
        } else {
            packed[j + 4] = static_cast<uint8_t>((s & 15) | (f & 15) << 4);
            packed[j - 4] = static_cast<uint8_t>(packed[j - 4] | (s >> 4) << 6);
            packed[j] = static_cast<uint8_t>(packed[j] | (f >> 4) << 6);
        }
    }
    for (int pair = 0; pair < 4; ++pair) {
        const uint8_t* q = codes + 64 * pair;
        for (int i = 0; i < 32; ++i) out[16 + 32 * pair + i] = static_cast<uint8_t>(q[i] | q[i + 32] << 4);
    }
    return square_sum(error);
}

constexpr int kSteps = 16, kStep = 16;  // Q6_K's groups

// The step of each group for codes -32 to 31: the largest number takes the wide side, and a few steps near it are tried.
INLINE void fit_steps(const float* in_order, float* best) {
    float x[kSuper], q[kSuper], error[kSuper], largest[kSteps], rate[kSteps], least[kSteps];
    float sum_qq[kSteps], sum_xq[kSteps], scale[kSteps], loss[kSteps];
    side_by_side<kStep, kSteps>(in_order, x);
    for (int j = 0; j < kSteps; ++j) largest[j] = x[j], least[j] = INFINITY;
    for (int i = 1; i < kStep; ++i) {  // the first of equals
        for (int j = 0; j < kSteps; ++j) {
            const float other = x[i * kSteps + j];
            largest[j] = std::fabs(other) > std::fabs(largest[j]) ? other : largest[j];
        }
    }
    for (int j = 0; j < kSteps; ++j) best[j] = largest[j] / -32.0f, rate[j] = inverse(largest[j]);
    for (int turn = 0; turn < 9; ++turn) {
        const float reach = static_cast<float>(-(31.2 + turn / 5.0));
        for (int i = 0; i < kStep; ++i) {
            for (int j = 0; j < kSteps; ++j) {
                const int k = i * kSteps + j;
                q[k] = nearest(clipped((x[k] * rate[j]) * reach, -32.0f, 31.0f));
            }
        }
        dots<kStep, kSteps>(q, q, sum_qq);
        dots<kStep, kSteps>(x, q, sum_xq);
        for (int j = 0; j < kSteps; ++j) scale[j] = quotient(sum_xq[j], sum_qq[j]);
        for (int i = 0; i < kStep; ++i) {
            for (int j = 0; j < kSteps; ++j) error[i * kSteps + j] = q[i * kSteps + j] * scale[j] - x[i * kSteps + j];
        }
        dots<kStep, kSteps>(error, error, loss);
        for (int j = 0; j < kSteps; ++j) {
            const bool better = loss[j] < least[j];
            best[j] = better ? scale[j] : best[j];
            least[j] = better ? loss[j] : least[j];
        }
    }
}

INLINE float pack_q6_k(const float* x, const float* steps, uint8_t* out) {
    float widest = steps[0];
    for (int j = 1; j < 16; ++j) widest = std::fabs(steps[j]) > std::fabs(widest) ? steps[j] : widest;
    const uint16_t d16 = to_f16(widest / 127.0f + 0.0f);  // never -0
    const float d = from_f16(d16), of_d = inverse(d);
    if (!std::isfinite(d)) return INFINITY;
    std::memset(out, 0, kQ6KBytes);
    std::memcpy(out + 208, &d16, 2);
    float error[kSuper];
    uint8_t codes[kSuper];
    for (int j = 0; j < 16; ++j) {
        const float scale = nearest(clipped(steps[j] * of_d, -128.0f, 127.0f));
        const float step = d * scale, fine = inverse(step);
        out[192 + j] = static_cast<uint8_t>(static_cast<int>(scale));
        for (int i = 16 * j; i < 16 * j + 16; ++i) {
            const float q = nearest(clipped(x[i] * fine, -32.0f, 31.0f));
            error[i] = step * q - x[i];
            codes[i] = static_cast<uint8_t>(static_cast<int>(q) + 32);
        }
    }
    for (int half = 0; half < 2; ++half) {
        const uint8_t* q = codes + 128 * half;
        for (int i = 0; i < 64; ++i) out[64 * half + i] = static_cast<uint8_t>((q[i] & 15) | (q[i + 64] & 15) << 4);
        for (int i = 0; i < 32; ++i) {
            out[128 + 32 * half + i] = static_cast<uint8_t>(q[i] >> 4 | (q[i + 32] >> 4) << 2 | (q[i + 64] >> 4) << 4 |
                                                            (q[i + 96] >> 4) << 6);
        }
    }
    return square_sum(error);
}

// Of a block from plain rounding and one from the search, the one that is closer to x. False: neither can be written.
void q4_k(const float* x, uint8_t* out) {
    Ranges plain, fitted;
    float span[kRanges];
    if (!moderate(x)) return not_a_number(out, kQ4KBytes, 0);
    for (int j = 0; j < kRanges; ++j) {
        const float* group = x + kRange * j;
        float low = 0.0f, high = group[0];
        for (int i = 0; i < kRange; ++i) {
            low = group[i] < low ? group[i] : low;
            high = group[i] > high ? group[i] : high;
        }
        span[j] = high - low;
        plain.step[j] = span[j] / 15.0f;
        plain.start[j] = low;
    }
    fit_ranges(x, plain, span, fitted);
    uint8_t other[kQ4KBytes];
    const float loss = pack_q4_k(x, plain, out), found = pack_q4_k(x, fitted, other);
    if (found < loss) std::memcpy(out, other, kQ4KBytes);
    else if (loss == INFINITY) not_a_number(out, kQ4KBytes, 0);
}

void q6_k(const float* x, uint8_t* out) {
    float plain[kSteps], fitted[kSteps];
    if (!moderate(x)) return not_a_number(out, kQ6KBytes, 208);
    for (int j = 0; j < kSteps; ++j) {
        float peak = 0.0f;
        for (int i = 0; i < kStep; ++i) peak = std::fabs(x[kStep * j + i]) > peak ? std::fabs(x[kStep * j + i]) : peak;
        plain[j] = peak / 31.0f;
    }
    fit_steps(x, fitted);
    uint8_t other[kQ6KBytes];
    const float loss = pack_q6_k(x, plain, out), found = pack_q6_k(x, fitted, other);
    if (found < loss) std::memcpy(out, other, kQ6KBytes);
    else if (loss == INFINITY) not_a_number(out, kQ6KBytes, 208);
}
