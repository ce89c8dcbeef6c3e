// The gated delta rule, and the scan of Mamba-2, token after token. Each column of a state goes its own way, so a few registers of columns
// go through all tokens before the next ones do, and stay in the nearest cache. Included by each tier.

INLINE float dot_of(const float* a, const float* b, int64_t n) {
    Floats sums = zeros();
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows) sums = fma(load_floats(a + i), load_floats(b + i), sums);
    float total = sum_lanes(sums);
    for (; i < n; ++i) total += a[i] * b[i];
    return total;
}

// W registers of columns, from `column` on, of a scan.
template <int W>
void scan_registers(const Recurrence& r, int64_t column) {
    const int64_t n = r.value_dim;
    const float* from = r.before + column;
    float* state = r.after + column;
    for (int64_t t = 0; t < r.tokens; ++t, from = state) {
        const float *q = r.q + t * r.q_token, *k = r.k + t * r.k_token, *v = r.v + t * r.v_token + column;
        const float kept = std::exp(r.g[t * r.g_token]);
        const Floats decay = broadcast(&kept);
        Floats added[W], read[W];
        for (int w = 0; w < W; ++w) added[w] = load_floats(v + w * kRows), read[w] = zeros();
        for (int64_t d = 0; d < r.key_dim; ++d) {
            const Floats of_k = broadcast(k + d), of_q = broadcast(q + d);
            for (int w = 0; w < W; ++w) {
                const Floats s = fma(of_k, added[w], mul(load_floats(from + d * n + w * kRows), decay));
                store(state + d * n + w * kRows, s);
                read[w] = fma(of_q, s, read[w]);
            }
        }
        for (int w = 0; w < W; ++w) store(r.out + t * r.out_token + column + w * kRows, read[w]);
    }
}

// The same of a delta rule. Products of a token's key and query with the old state give those with the new one, and are made while the
// state of the token before is written: so each token reads and writes a state once. `Streamed`: the last state is stored past the caches,
// and those before it in `room`.
template <int W, bool Streamed = false>
void delta_registers(const Recurrence& r, int64_t column) {
    const int64_t n = r.value_dim;
    const float* from = r.before + column;
    float *last = r.after + column, *state = Streamed ? r.room : last;
    int64_t from_row = n;
    const int64_t state_row = Streamed ? W * kRows : n;
    Floats seen[W], read[W];
    for (int w = 0; w < W; ++w) seen[w] = zeros(), read[w] = zeros();
    for (int64_t d = 0; d < r.key_dim; ++d) {
        const Floats of_k = broadcast(r.k + d), of_q = broadcast(r.q + d);
        for (int w = 0; w < W; ++w) {
            const Floats s = load_floats(from + d * n + w * kRows);
            seen[w] = fma(of_k, s, seen[w]);
            read[w] = fma(of_q, s, read[w]);
        }
    }
    for (int64_t t = 0; t < r.tokens; ++t, from = state, from_row = state_row) {
        const float *q = r.q + t * r.q_token, *k = r.k + t * r.k_token, *v = r.v + t * r.v_token + column;
        const float kept = std::exp(r.g[t * r.g_token]), both = dot_of(q, k, r.key_dim);
        const Floats decay = broadcast(&kept), beta = broadcast(r.beta + t * r.beta_token);
        Floats added[W];
        for (int w = 0; w < W; ++w) {
            added[w] = mul(sub(load_floats(v + w * kRows), mul(seen[w], decay)), beta);
            store(r.out + t * r.out_token + column + w * kRows, fma(added[w], broadcast(&both), mul(read[w], decay)));
            seen[w] = read[w] = zeros();
        }
        if (t + 1 == r.tokens) {
            for (int64_t d = 0; d < r.key_dim; ++d) {
                const Floats of_k = broadcast(k + d);
                for (int w = 0; w < W; ++w) {
                    const Floats s = fma(of_k, added[w], mul(load_floats(from + d * from_row + w * kRows), decay));
                    if constexpr (Streamed) stream(last + d * n + w * kRows, s);
                    else store(last + d * n + w * kRows, s);
                }
            }
            return;
        }
        const float *next_q = q + r.q_token, *next_k = k + r.k_token;
        for (int64_t d = 0; d < r.key_dim; ++d) {
            const Floats of_k = broadcast(k + d), of_next_k = broadcast(next_k + d), of_next_q = broadcast(next_q + d);
            for (int w = 0; w < W; ++w) {
                const Floats s = fma(of_k, added[w], mul(load_floats(from + d * from_row + w * kRows), decay));
                store(state + d * state_row + w * kRows, s);
                seen[w] = fma(of_next_k, s, seen[w]);
                read[w] = fma(of_next_q, s, read[w]);
            }
        }
    }
}

// The last columns, fewer than a register has.
void recur_rest(const Recurrence& r, int64_t column) {
    const int64_t n = r.value_dim, rest = n - column;
    const float* from = r.before + column;
    float* state = r.after + column;
    for (int64_t t = 0; t < r.tokens; ++t, from = state) {
        const float *q = r.q + t * r.q_token, *k = r.k + t * r.k_token, *v = r.v + t * r.v_token + column;
        const float decay = std::exp(r.g[t * r.g_token]);
        float added[kRows], read[kRows] = {}, seen[kRows] = {};
        for (int64_t d = 0; r.beta && d < r.key_dim; ++d)
            for (int64_t c = 0; c < rest; ++c) seen[c] += k[d] * from[d * n + c];
        for (int64_t c = 0; c < rest; ++c) added[c] = r.beta ? (v[c] - seen[c] * decay) * r.beta[t * r.beta_token] : v[c];
        for (int64_t d = 0; d < r.key_dim; ++d) {
            for (int64_t c = 0; c < rest; ++c) {
                const float s = from[d * n + c] * decay + k[d] * added[c];
                state[d * n + c] = s;
                read[c] += q[d] * s;
            }
        }
        for (int64_t c = 0; c < rest; ++c) r.out[t * r.out_token + column + c] = read[c];
    }
}

// A step of few tokens meets a state that no cache holds. It reads it in the order of addresses, as many columns at once as there are registers
// for, and writes the next one, which nobody reads before the next step, past the caches. States between its tokens lie in the second cache.
// Returns the first column that is left.
int64_t few_steps(const Recurrence& r) {
    constexpr int wide = kFewStepsColumns / kRows;
    int64_t column = 0;
    if (kTile < 8 || r.tokens > kFewSteps || !r.beta || reinterpret_cast<uintptr_t>(r.after) % 64 || r.value_dim % kRows) return 0;
    for (; column + wide * kRows <= r.value_dim; column += wide * kRows) delta_registers<wide, true>(r, column);
    end_streams();
    return column;
}

void recur(const Recurrence& r) {
    constexpr int wide = kTile >= 8 ? 4 : 2;
    int64_t column = few_steps(r);
    for (; column + wide * kRows <= r.value_dim; column += wide * kRows) r.beta ? delta_registers<wide>(r, column) : scan_registers<wide>(r, column);
    for (; column + kRows <= r.value_dim; column += kRows) r.beta ? delta_registers<1>(r, column) : scan_registers<1>(r, column);
    if (column < r.value_dim) recur_rest(r, column);
}
