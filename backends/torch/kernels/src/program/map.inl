// Functions of single numbers over rows of them, where a model has no fused operation. Included by each tier after fused_ops.inl.

// The natural logarithm of a normal number above 0, to within two units in the last place.
INLINE float log_of(float x) {
    const auto bits = static_cast<int32_t>(as_bits(x));
    const int32_t up = (bits & 0x7fffff) > 0x3504f3 ? 1 : 0;  // above the root of 2 it is the next power's
    const float n = static_cast<float>((bits >> 23) - 127 + up);
    const float f = as_float(static_cast<uint32_t>((bits & 0x7fffff) | (up ? 0x3f000000 : 0x3f800000))) - 1.0f, z = f * f;
    float p = 7.0376836292e-2f;
    p = p * f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    return f + (p * f * z - 2.12194440e-4f * n - 0.5f * z) + 0.693359375f * n;
}

struct Sums { INLINE float operator()(float x, float y) const { return x + y; } };
struct Differences { INLINE float operator()(float x, float y) const { return x - y; } };
struct Products { INLINE float operator()(float x, float y) const { return x * y; } };
struct Quotients { INLINE float operator()(float x, float y) const { return x / y; } };

template <class F>
void map_pairs(const MapRows& m, const F& f) {
    for (int64_t r = 0; r < m.rows; ++r) {
        const float *a = m.a.from + r * m.a.apart, *b = m.b.from + r * m.b.apart;
        float* out = m.out + r * m.out_apart;
        if (m.a.step == 1 && m.b.step == 1) {
            for (int64_t i = 0; i < m.count; ++i) out[i] = f(a[i], b[i]);
        } else if (m.a.step == 1 && m.b.step == 0) {
            const float y = *b;
            for (int64_t i = 0; i < m.count; ++i) out[i] = f(a[i], y);
        } else {
            for (int64_t i = 0; i < m.count; ++i) out[i] = f(a[i * m.a.step], b[i * m.b.step]);
        }
    }
}

constexpr int64_t kMapped = 64;  // numbers at a time: exponentials of all of them come first, see swiglu_row

// `grow`: of whom an exponential is taken; `f`: of a number and that exponential.
template <class G, class F>
void map_grown(const MapRows& m, const G& grow, const F& f) {
    float x[kMapped], grown[kMapped];
    for (int64_t r = 0; r < m.rows; ++r) {
        const float* a = m.a.from + r * m.a.apart;
        for (int64_t at = 0; at < m.count; at += kMapped) {
            const int64_t n = std::min(kMapped, m.count - at);
            float* out = m.out + r * m.out_apart + at;
            for (int64_t i = 0; i < n; ++i) x[i] = a[(at + i) * m.a.step];
            for (int64_t i = 0; i < n; ++i) grown[i] = exp_of(grow(x[i]));
            for (int64_t i = 0; i < n; ++i) out[i] = x[i] != x[i] ? x[i] : f(x[i], grown[i]);  // clamping must not hide NaN
        }
    }
}

struct Same { INLINE float operator()(float x) const { return x; } };
struct Less { INLINE float operator()(float x) const { return -x; } };
struct Twice { INLINE float operator()(float x) const { return 2.0f * x; } };
struct GeluExponent { INLINE float operator()(float x) const { return -1.5957691216f * (x + 0.044715f * x * x * x); } };  // see geglu_row
struct Gated { INLINE float operator()(float x, float grown) const { return x / (1.0f + grown); } };
struct Shares { INLINE float operator()(float, float grown) const { return 1.0f / (1.0f + grown); } };
struct Powers { INLINE float operator()(float x, float grown) const { return x > 88.0f ? std::numeric_limits<float>::infinity() : grown; } };
struct Tangents {
    INLINE float operator()(float x, float grown) const {
        const float z = x * x;  // a difference of two near numbers has few digits, so small ones have a series
        const float near = x - x * z * (0.333333333f - z * (0.133333333f - z * (0.0539682540f - z * 0.0218694885f)));
        return z < 0.0625f ? near : 1.0f - 2.0f / (grown + 1.0f);
    }
};
struct Softplus {
    INLINE float operator()(float x, float grown) const {
        const float u = 1.0f + grown, gap = u - 1.0f;  // what rounding has left of `grown`
        const float made = log_of(u) * (grown / (gap > 0.0f ? gap : 1.0f));
        return x > 20.0f ? x : gap > 0.0f ? made : grown;
    }
};

template <class F>
void map_each(const MapRows& m, const F& f) {
    for (int64_t r = 0; r < m.rows; ++r) {
        const float* a = m.a.from + r * m.a.apart;
        float* out = m.out + r * m.out_apart;
        if (m.a.step == 1) for (int64_t i = 0; i < m.count; ++i) out[i] = f(a[i]);
        else for (int64_t i = 0; i < m.count; ++i) out[i] = f(a[i * m.a.step]);
    }
}

struct Scaled { float scale, shift; INLINE float operator()(float x) const { return x * scale + shift; } };
struct Bounded {  // NaN passes both
    float low, high;
    INLINE float operator()(float x) const { const float y = x < low ? low : x; return y > high ? high : y; }
};
struct Roots { INLINE float operator()(float x) const { return std::sqrt(x); } };

void map_sums(const MapRows& m) {
    for (int64_t r = 0; r < m.rows; ++r) {
        const float* a = m.a.from + r * m.a.apart;
        Floats sums = zeros();
        int64_t i = 0;
        if (m.a.step == 1) for (; i + kRows <= m.count; i += kRows) sums = add(sums, load_floats(a + i));
        float total = sum_lanes(sums);
        for (; i < m.count; ++i) total += a[i * m.a.step];
        m.out[r * m.out_apart] = total;
    }
}

void map_rows(const MapRows& m) {
    constexpr float most = std::numeric_limits<float>::infinity();
    switch (m.function) {
        case MapFunction::Add: return map_pairs(m, Sums{});
        case MapFunction::Subtract: return map_pairs(m, Differences{});
        case MapFunction::Multiply: return map_pairs(m, Products{});
        case MapFunction::Divide: return map_pairs(m, Quotients{});
        case MapFunction::Affine: return map_each(m, Scaled{m.scale, m.shift});
        case MapFunction::Clamp: return map_each(m, Bounded{m.scale, m.shift});
        case MapFunction::Relu: return map_each(m, Bounded{0.0f, most});
        case MapFunction::Sqrt: return map_each(m, Roots{});
        case MapFunction::Silu: return map_grown(m, Less{}, Gated{});
        case MapFunction::Sigmoid: return map_grown(m, Less{}, Shares{});
        case MapFunction::Tanh: return map_grown(m, Twice{}, Tangents{});
        case MapFunction::GeluTanh: return map_grown(m, GeluExponent{}, Gated{});
        case MapFunction::Softplus: return map_grown(m, Same{}, Softplus{});
        case MapFunction::Exp: return map_grown(m, Same{}, Powers{});
        case MapFunction::Sum: return map_sums(m);
    }
}
