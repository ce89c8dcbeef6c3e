// Attention of up to sixteen successive tokens (a prompt, an encoder). A lane is a query, so keys and values are read as they lie, one
// number for sixteen queries, and the sums of a softmax are sums of registers. Query heads that share a key head go through its rows
// together, sixty-four at a time: these become f32 once, and stay in the nearest caches. Included by each tier after kv_rows.inl.

// `count` keys, or values, from the `begin`th on: as they lie, or made floats in `room`.
INLINE const float* floats_at(const KVRows* kept, const float* rows, int64_t apart, int64_t begin, int64_t count, float* room) {
    if (!kept) return rows + begin * apart;
    if (kept->floats()) return kept->floats() + begin * kept->dim;
    load_kv_rows(kept->from(begin), count, room);
    return room;
}

void block_scores(const float* q, int64_t dim, const float* k, int64_t apart, int64_t count, float* scores) {
    int64_t t = 0;
    for (; t + kTile <= count; t += kTile, k += kTile * apart, scores += kTile * kRows) {
        Floats acc[kTile];
        for (int i = 0; i < kTile; ++i) acc[i] = zeros();
        for (int64_t d = 0; d < dim; ++d) {
            const Floats of_queries = load_floats(q + d * kRows);
            for (int i = 0; i < kTile; ++i) acc[i] = fma(of_queries, broadcast(k + i * apart + d), acc[i]);
        }
        for (int i = 0; i < kTile; ++i) store(scores + i * kRows, acc[i]);
    }
    for (; t < count; ++t, k += apart, scores += kRows) {
        Floats acc = zeros();
        for (int64_t d = 0; d < dim; ++d) acc = fma(load_floats(q + d * kRows), broadcast(k + d), acc);
        store(scores, acc);
    }
}

// exp(score - largest) of each in place, and one part of their sum in `share`; NaN there if there is one. `low`: the first token of the scores.
void block_softmax(const AttentionBlock& a, const float* sink, int64_t low, int64_t high, float* scores, float* share) {
    constexpr float hidden = -1e30f;  // finite: what is hidden must not look like what is broken
    for (int64_t i = 0; i < a.queries; ++i) {
        for (int64_t t = a.past + i + 1 + a.ahead; t < high; ++t) scores[(t - low) * kRows + i] = hidden;
        const int64_t first = a.window ? a.past + i + 1 - a.window : 0;
        for (int64_t t = low; t < first; ++t) scores[(t - low) * kRows + i] = hidden;
    }
    float top[kRows], total[kRows] = {}, nan[kRows] = {};
    for (int64_t i = 0; i < kRows; ++i) top[i] = sink ? *sink : hidden;
    for (int64_t t = 0; t < high - low; ++t) {
        const float* s = scores + t * kRows;
        for (int64_t i = 0; i < kRows; ++i) top[i] = s[i] > top[i] ? s[i] : top[i];
    }
    for (int64_t t = 0; t < high - low; ++t) {
        float* s = scores + t * kRows;
        for (int64_t i = 0; i < kRows; ++i) {
            nan[i] += s[i] * 0.0f;
            s[i] = exp_of(s[i] - top[i]);
            total[i] += s[i];
        }
    }
    if (sink) for (int64_t i = 0; i < kRows; ++i) total[i] += exp_of(*sink - top[i]);
    for (int64_t i = 0; i < kRows; ++i) share[i] = 1.0f / total[i] + nan[i];
}

// The first of the kTile numbers of a value that are the `at`th sums: of the last ones some may be computed twice.
INLINE int64_t sums_from(int64_t at, int64_t v_dim) { return std::min<int64_t>(at * kTile, v_dim - kTile); }

// Adds to `sums` ([v_dim / kTile][kTile][kRows]) `count` values times their scores.
void block_values(const float* scores, int64_t v_dim, const float* v, int64_t apart, int64_t count, float* sums) {
    for (int64_t at = 0; at * kTile < v_dim; ++at, sums += kTile * kRows) {
        Floats acc[kTile];
        for (int i = 0; i < kTile; ++i) acc[i] = load_floats(sums + i * kRows);
        const float* value = v + sums_from(at, v_dim);
        for (int64_t t = 0; t < count; ++t, value += apart) {
            const Floats p = load_floats(scores + t * kRows);
            for (int i = 0; i < kTile; ++i) acc[i] = fma(p, broadcast(value + i), acc[i]);
        }
        for (int i = 0; i < kTile; ++i) store(sums + i * kRows, acc[i]);
    }
}

void attention_block(const AttentionBlock& a, float* scratch) {
    const int64_t low = a.window && a.past + 1 > a.window ? a.past + 1 - a.window : 0;
    const int64_t high = std::min(a.end, a.past + a.queries + a.ahead), seen = high - low;
    const int64_t queries = a.dim * kRows, sums = (a.v_dim + kTile - 1) / kTile * kTile * kRows, scores = seen * kRows;  // floats a head
    float *q = scratch, *made = q + a.heads * queries, *s = made + a.heads * sums, *room = s + a.heads * scores;
    for (int64_t h = 0; h < a.heads; ++h)
        for (int64_t d = 0; d < a.dim; ++d)
            for (int64_t i = 0; i < kRows; ++i)
                q[h * queries + d * kRows + i] = i < a.queries ? a.q[i * a.q_token + h * a.dim + d] * a.scale : 0.0f;
    std::fill_n(made, a.heads * sums, 0.0f);
    for (int64_t begin = 0; begin < seen; begin += kKVTile) {
        const int64_t count = std::min(seen - begin, kKVTile);
        const float* k = floats_at(a.kept_k, a.k, a.k_token, low + begin, count, room);
        for (int64_t h = 0; h < a.heads; ++h) block_scores(q + h * queries, a.dim, k, a.k_token, count, s + h * scores + begin * kRows);
    }
    float share[kMostHeads][kRows];
    for (int64_t h = 0; h < a.heads; ++h) block_softmax(a, a.sink ? a.sink + h : nullptr, low, high, s + h * scores, share[h]);
    for (int64_t begin = 0; begin < seen; begin += kKVTile) {
        const int64_t count = std::min(seen - begin, kKVTile);
        const float* v = floats_at(a.kept_v, a.v, a.v_token, low + begin, count, room);
        for (int64_t h = 0; h < a.heads; ++h) block_values(s + h * scores + begin * kRows, a.v_dim, v, a.v_token, count, made + h * sums);
    }
    for (int64_t h = 0; h < a.heads; ++h) {
        const Floats shares = load_floats(share[h]);
        float* of = made + h * sums;
        for (int64_t at = 0; at * kTile < a.v_dim; ++at, of += kTile * kRows) {
            for (int i = 0; i < kTile; ++i) store(of + i * kRows, mul(load_floats(of + i * kRows), shares));
            float* out = a.out + h * a.v_dim + sums_from(at, a.v_dim);
            for (int64_t j = 0; j < a.queries; ++j)
                for (int i = 0; i < kTile; ++i) out[j * a.out_token + i] = of[i * kRows + j];
        }
    }
}
