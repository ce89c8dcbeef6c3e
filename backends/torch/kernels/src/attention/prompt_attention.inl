// Attention of up to sixteen successive tokens (a prompt, an encoder). A lane is a query, so keys and values are read as they lie, one
// number for sixteen queries, and the sums of a softmax are sums of registers. Query heads that share a key head go through its rows
// together, sixty-four at a time: these become f32 once, and stay in the nearest caches, as their scores do. What was summed with an
// earlier largest score is scaled down where a larger one appears. Included by each tier after kv_rows.inl.

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

// Sixteen queries of a head, a dimension after the other, with what `more` adds.
INLINE void lay_out_queries(const AttentionBlock& a, int64_t head, const float* more, float* q) {
    for (int64_t d = 0; d < a.dim; ++d)
        for (int64_t i = 0; i < kRows; ++i)
            q[d * kRows + i] = i < a.queries ? (a.q[i * a.q_token + head * a.dim + d] + (more ? more[d] : 0.0f)) * a.scale : 0.0f;
}

// Adds to scores of keys first .. first + count those of their distances. `q`: queries that meet distances; `room`: for scores of all distances
// between these queries and keys, from the largest on: one step further for the next key, one back for the next query.
INLINE void add_distances(const AttentionBlock& a, const float* q, int64_t first, int64_t count, float* scores, float* room) {
    block_scores(q, a.dim, a.distances.keys - (a.past + kRows - 1 - first) * a.dim, a.dim, count + kRows - 1, room);
    for (int64_t t = 0; t < count; ++t)
        for (int64_t i = 0; i < kRows; ++i) scores[t * kRows + i] += room[(t + kRows - 1 - i) * kRows + i];
}

// The softmax of one head as far as it has come, of each query.
struct RunningSoftmax {
    float top[kRows], total[kRows], nan[kRows];  // the largest score, the sum, and NaN where there was one
    float shrink[kRows];  // what the last scores make of all before them
};

constexpr float kHidden = -1e30f;  // finite: what is hidden must not look like what is broken

// exp(score - largest) of tokens first .. first + count in place.
void block_softmax(const AttentionBlock& a, int64_t first, int64_t count, float* scores, RunningSoftmax& r) {
    for (int64_t i = 0; i < a.queries; ++i) {
        const int64_t behind = a.past + i + 1 + a.ahead - first, before = (a.window ? a.past + i + 1 - a.window : 0) - first;
        for (int64_t t = std::max<int64_t>(behind, 0); t < count; ++t) scores[t * kRows + i] = kHidden;
        for (int64_t t = 0; t < std::min(before, count); ++t) scores[t * kRows + i] = kHidden;
    }
    float top[kRows];
    for (int64_t i = 0; i < kRows; ++i) top[i] = r.top[i];
    for (int64_t t = 0; t < count; ++t) {
        const float* s = scores + t * kRows;
        for (int64_t i = 0; i < kRows; ++i) top[i] = s[i] > top[i] ? s[i] : top[i];
    }
    for (int64_t i = 0; i < kRows; ++i) r.shrink[i] = exp_of(r.top[i] - top[i]);
    float total[kRows], nan[kRows];
    for (int64_t i = 0; i < kRows; ++i) total[i] = r.total[i] * r.shrink[i], nan[i] = r.nan[i];
    for (int64_t t = 0; t < count; ++t) {
        float* s = scores + t * kRows;
        for (int64_t i = 0; i < kRows; ++i) {
            nan[i] += s[i] * 0.0f;
            s[i] = exp_of(s[i] - top[i]);
            total[i] += s[i];
        }
    }
    for (int64_t i = 0; i < kRows; ++i) r.top[i] = top[i], r.total[i] = total[i], r.nan[i] = nan[i];
}

// The first of the kTile numbers of a value that are the `at`th sums: of the last ones some may be computed twice.
INLINE int64_t sums_from(int64_t at, int64_t v_dim) { return std::min<int64_t>(at * kTile, v_dim - kTile); }

// Shrinks `sums` ([v_dim / kTile][kTile][kRows]), and adds `count` values times their scores.
void block_values(const float* scores, int64_t v_dim, const float* v, int64_t apart, int64_t count, const float* shrink, float* sums) {
    const Floats less = load_floats(shrink);
    for (int64_t at = 0; at * kTile < v_dim; ++at, sums += kTile * kRows) {
        Floats acc[kTile];
        for (int i = 0; i < kTile; ++i) acc[i] = mul(load_floats(sums + i * kRows), less);
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
    const int64_t high = std::min(a.end, a.past + a.queries + a.ahead);
    const int64_t queries = a.dim * kRows, sums = (a.v_dim + kTile - 1) / kTile * kTile * kRows, scores = kKVTile * kRows;  // floats a head
    float *q = scratch, *made = q + a.heads * queries, *s = made + a.heads * sums, *room = s + a.heads * scores;
    float *distant = room + kKVTile * a.dim, *of_distances = distant + queries;
    for (int64_t h = 0; h < a.heads; ++h) lay_out_queries(a, h, a.distances.content, q + h * queries);
    if (a.distances.keys) lay_out_queries(a, 0, a.distances.position, distant);
    std::fill_n(made, a.heads * sums, 0.0f);
    RunningSoftmax running[kMostHeads];
    for (int64_t h = 0; h < a.heads; ++h)
        for (int64_t i = 0; i < kRows; ++i)
            running[h].top[i] = a.sink ? a.sink[h] : kHidden, running[h].total[i] = a.sink ? 1.0f : 0.0f, running[h].nan[i] = 0.0f;
    for (int64_t first = low; first < high; first += kKVTile) {
        const int64_t count = std::min(high - first, kKVTile);
        const float* k = floats_at(a.kept_k, a.k, a.k_token, first, count, room);
        for (int64_t h = 0; h < a.heads; ++h) {
            block_scores(q + h * queries, a.dim, k, a.k_token, count, s + h * scores);
            if (a.distances.keys) add_distances(a, distant, first, count, s + h * scores, of_distances);
            block_softmax(a, first, count, s + h * scores, running[h]);
        }
        const float* v = floats_at(a.kept_v, a.v, a.v_token, first, count, room);
        for (int64_t h = 0; h < a.heads; ++h)
            block_values(s + h * scores, a.v_dim, v, a.v_token, count, running[h].shrink, made + h * sums);
    }
    for (int64_t h = 0; h < a.heads; ++h) {
        float share[kRows];
        for (int64_t i = 0; i < kRows; ++i) share[i] = 1.0f / running[h].total[i] + running[h].nan[i];
        const Floats shares = load_floats(share);
        float* of = made + h * sums;
        for (int64_t at = 0; at * kTile < a.v_dim; ++at, of += kTile * kRows) {
            for (int i = 0; i < kTile; ++i) store(of + i * kRows, mul(load_floats(of + i * kRows), shares));
            float* out = a.out + h * a.v_dim + sums_from(at, a.v_dim);
            for (int64_t j = 0; j < a.queries; ++j)
                for (int i = 0; i < kTile; ++i) out[j * a.out_token + i] = of[i * kRows + j];
        }
    }
}
