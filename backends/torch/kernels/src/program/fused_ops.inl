// Row kernels between the products of a step: norms, activations, rotary embedding. Included by each
// tier, like tile.inl. Plain loops are vectorized by the compiler for the tier's registers.

// exp to within two units in the last place; below -87 it is 0 enough, above 88 infinite enough.
INLINE float exp_of(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float shifted = x * 1.44269504f + 12582912.0f;  // rounds to an integer, kept in the low bits
    float n = shifted - 12582912.0f;
    float r = x - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return as_float(as_bits(p) + (as_bits(shifted) << 23));
}

// In vectors by hand: `sum` and `out` may be `x` or `residual`, where a compiler would go number by number.
void rms_norm_row(const float* x, const float* residual, float* sum, const float* w, float eps, int64_t n, float* out) {
    int64_t i = 0;
    if (residual) {
        for (; i + kRows <= n; i += kRows) store(sum + i, add(load_floats(x + i), load_floats(residual + i)));
        for (; i < n; ++i) sum[i] = x[i] + residual[i];
        x = sum;
    }
    Floats squares = zeros();
    for (i = 0; i + kRows <= n; i += kRows) squares = fma(load_floats(x + i), load_floats(x + i), squares);
    float total = sum_lanes(squares);
    for (; i < n; ++i) total += x[i] * x[i];
    const float factor = 1.0f / std::sqrt(total / static_cast<float>(n) + eps);
    const Floats factors = broadcast(&factor);
    for (i = 0; i + kRows <= n; i += kRows) store(out + i, mul(mul(load_floats(x + i), factors), load_floats(w + i)));
    for (; i < n; ++i) out[i] = x[i] * factor * w[i];
}

void layer_norm_row(const float* x, const float* w, const float* b, float eps, int64_t n, float* out) {
    Floats sums = zeros(), squares = zeros();
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows) sums = add(sums, load_floats(x + i));
    float total = sum_lanes(sums), apart = 0.0f;
    for (; i < n; ++i) total += x[i];
    const float mean = total / static_cast<float>(n), less = -mean;
    for (i = 0; i + kRows <= n; i += kRows) {
        const Floats d = add(load_floats(x + i), broadcast(&less));
        squares = fma(d, d, squares);
    }
    for (; i < n; ++i) apart += (x[i] - mean) * (x[i] - mean);
    const float factor = 1.0f / std::sqrt((sum_lanes(squares) + apart) / static_cast<float>(n) + eps);
    for (i = 0; i + kRows <= n; i += kRows) {
        const Floats d = mul(add(load_floats(x + i), broadcast(&less)), broadcast(&factor));
        store(out + i, b ? fma(d, load_floats(w + i), load_floats(b + i)) : mul(d, load_floats(w + i)));
    }
    for (; i < n; ++i) out[i] = (x[i] - mean) * factor * w[i] + (b ? b[i] : 0.0f);
}

// All exponentials first: in one loop compilers divide by that of 88 too, for lanes that are not kept, and what comes out is so small
// that CPUs take 150 cycles for it.
void swiglu_row(const float* gates, const float* up, int64_t n, float* out) {
    float grown[4 * kRows];
    for (int64_t at = 0; at < n; at += 4 * kRows) {
        const int64_t some = std::min<int64_t>(4 * kRows, n - at);
        for (int64_t i = 0; i < some; ++i) grown[i] = exp_of(-gates[at + i]);
        for (int64_t i = 0; i < some; ++i) {
            float gate = gates[at + i];
            float kept = gate != gate ? gate : gate / (1.0f + grown[i]);  // clamping must not hide NaN
            out[at + i] = kept * up[at + i];
        }
    }
}

// As swiglu_row.
void clamped_swiglu_row(const float* gates, const float* up, float alpha, float limit, int64_t n, float* out) {
    float grown[4 * kRows];
    for (int64_t at = 0; at < n; at += 4 * kRows) {
        const int64_t some = std::min<int64_t>(4 * kRows, n - at);
        for (int64_t i = 0; i < some; ++i) {
            const float gate = gates[at + i] > limit ? limit : gates[at + i];  // NaN passes
            grown[i] = exp_of(-alpha * gate);
        }
        for (int64_t i = 0; i < some; ++i) {
            const float gate = gates[at + i] > limit ? limit : gates[at + i];
            float lifted = up[at + i] > limit ? limit : up[at + i];
            lifted = lifted < -limit ? -limit : lifted;
            const float kept = gate != gate ? gate : gate / (1.0f + grown[i]);
            out[at + i] = kept * (lifted + 1.0f);
        }
    }
}

// As swiglu_row, of 1.595769 * (gate + 0.044715 * gate^3): half of 1 + tanh(z) is the sigmoid of 2 z.
void geglu_row(const float* gates, const float* up, int64_t n, float* out) {
    float grown[4 * kRows];
    for (int64_t at = 0; at < n; at += 4 * kRows) {
        const int64_t some = std::min<int64_t>(4 * kRows, n - at);
        for (int64_t i = 0; i < some; ++i) {
            const float gate = gates[at + i];
            grown[i] = exp_of(-1.5957691216f * (gate + 0.044715f * gate * gate * gate));
        }
        for (int64_t i = 0; i < some; ++i) {
            float gate = gates[at + i];
            float kept = gate != gate ? gate : gate / (1.0f + grown[i]);  // clamping must not hide NaN
            out[at + i] = kept * up[at + i];
        }
    }
}

// `coefficients` from the highest power on.
template <int N>
INLINE Floats polynomial(const float (&coefficients)[N], Floats x) {
    Floats sum = broadcast(coefficients);
    UNROLL for (int i = 1; i < N; ++i) sum = fma(sum, x, broadcast(coefficients + i));
    return sum;
}

// erf to within 3e-7, which is how exact f32 sums of it are: a quotient of polynomials, constant from 4 on. Of sixteen numbers.
INLINE void gelu_of(const float* x, float* out) {
    static const float above[] = {-2.72614225801306e-10f, 2.77068142495902e-08f, -2.10102402082508e-06f, -5.69250639462346e-05f,
                                  -7.34990630326855e-04f, -2.95459980854025e-03f, -1.60960333262415e-02f};
    static const float below[] = {-1.45660718464996e-05f, -2.13374055278905e-04f, -1.68282697438203e-03f, -7.37332916720468e-03f,
                                  -1.42647390514189e-02f};
    static const float root_half = 0.707106781f, four = 4.0f, less_four = -4.0f, half = 0.5f;
    const Floats given = load_floats(x), halves = mul(given, broadcast(&half));
    const Floats z = at_least(at_most(mul(given, broadcast(&root_half)), broadcast(&four)), broadcast(&less_four)), squares = mul(z, z);
    const Floats share = divide(mul(z, polynomial(above, squares)), polynomial(below, squares));
    store(out, fma(halves, share, halves));
}

void gelu_row(const float* x, int64_t n, float* out) {
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows) gelu_of(x + i, out + i);
    float rest[kRows] = {};
    std::copy_n(x + i, n - i, rest);
    gelu_of(rest, rest);
    std::copy_n(rest, n - i, out + i);
}

void rotate(float* x, int64_t n, bool pairs, const float* cos, const float* sin) {
    if (pairs) {
        for (int64_t i = 0; i < n; i += 2) {
            const float a = x[i], b = x[i + 1];
            x[i] = a * cos[i] + b * sin[i];
            x[i + 1] = b * cos[i + 1] + a * sin[i + 1];
        }
        return;
    }
    float* y = x + n / 2;
    const float *cos_y = cos + n / 2, *sin_y = sin + n / 2;
    for (int64_t i = 0; i < n / 2; ++i) {
        const float a = x[i], b = y[i];
        x[i] = a * cos[i] + b * sin[i];
        y[i] = b * cos_y[i] + a * sin_y[i];
    }
}

void norm_rope_heads(const Heads& h, float* row, const float* cos, const float* sin) {
    for (int64_t i = 0; i < h.heads + h.kv_heads; ++i) {
        float* x = row + i * h.dim;
        const float* w = i < h.heads ? h.q_norm : h.k_norm;
        if (h.rotary_dim && h.norm_after_rope) rotate(x, h.rotary_dim, h.pairs, cos, sin);
        if (w) rms_norm_row(x, nullptr, nullptr, w, h.eps, h.dim, x);
        if (h.rotary_dim && !h.norm_after_rope) rotate(x, h.rotary_dim, h.pairs, cos, sin);
    }
}

// The largest of x; NaN if there is one. In integers, of which compilers make vectors: floats of one sign are in the order of
// their bits.
float peak_of(const float* x, int64_t n) {
    int32_t top = INT32_MIN, size = 0;
    for (int64_t i = 0; i < n; ++i) {
        const int32_t bits = static_cast<int32_t>(as_bits(x[i])), magnitude = bits & 0x7fffffff;
        const int32_t key = bits < 0 ? -magnitude : magnitude;
        top = top > key ? top : key;
        size = size > magnitude ? size : magnitude;
    }
    if (size > 0x7f800000) return as_float(0x7fc00000u);
    return top < 0 ? -as_float(static_cast<uint32_t>(-top)) : as_float(static_cast<uint32_t>(top));
}

// The sum of exp((x - best) * rate), for x that are at most `best`.
float mass_of(const float* x, int64_t n, float best, float rate) {
    float made[64], total = 0.0f;
    Floats sums = zeros();
    int64_t at = 0;
    for (; at + 64 <= n; at += 64) {
        for (int64_t i = 0; i < 64; ++i) made[i] = exp_of((x[at + i] - best) * rate);
        for (int64_t i = 0; i < 64; i += kRows) sums = add(sums, load_floats(made + i));
    }
    for (; at < n; ++at) total += exp_of((x[at] - best) * rate);
    return total + sum_lanes(sums);
}
