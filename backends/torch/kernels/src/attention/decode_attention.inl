// Attention of one token: heads that share keys and values read them together, as they are kept. Included by each tier behind kv_rows.inl.

// Sixteen numbers of a row of floats, from the `at`th on.
template <Kept T>
INLINE Floats kept_at(const uint8_t* row, int64_t at) {
    if constexpr (T == Kept::F32) return load_floats(reinterpret_cast<const float*>(row) + at);
    else if constexpr (T == Kept::F16) return load_f16(row + 2 * at);
    else return load_bf16(row + 2 * at);
}

// A head in registers. Where it is no whole number of them the last one begins earlier, and so holds some numbers a second time.
struct Registers {
    int64_t dim;
    int64_t count() const { return registers_of(dim); }
    int64_t at(int64_t i) const { return std::min(i * kRows, dim - kRows); }
    int64_t twice() const { return count() * kRows - dim; }
};

INLINE void ask_for(const uint8_t* row, int64_t bytes, int64_t ahead) {
    for (int64_t at = 0; ahead && at < bytes; at += 64) PREFETCH(row + ahead + at);
}

// A query with zeros where its last register holds numbers a second time.
void lay_query(const float* q, const Registers& head, float* to) {
    for (int64_t i = 0; i < head.count(); ++i, to += kRows) {
        store(to, load_floats(q + head.at(i)));
        if (i + 1 == head.count()) std::fill_n(to, head.twice(), 0.0f);
    }
}

// Products of H queries with `count` keys, `stride` apart.
template <Kept T, int H>
void scores_of(const float* queries, const Registers& head, const uint8_t* keys, int64_t row_bytes, int64_t count, float scale,
               float* scores, int64_t stride, int64_t ahead) {
    const int64_t registers = head.count();
    for (int64_t t = 0; t < count; ++t, keys += row_bytes) {
        ask_for(keys, row_bytes, ahead);
        Floats sums[H];
        for (int h = 0; h < H; ++h) sums[h] = zeros();
        const float* q = queries;
        for (int64_t i = 0; i < registers; ++i, q += kRows) {
            const Floats k = kept_at<T>(keys, head.at(i));
            for (int h = 0; h < H; ++h) sums[h] = fma(load_floats(q + h * registers * kRows), k, sums[h]);
        }
        for (int h = 0; h < H; ++h) scores[h * stride + t] = sum_lanes(sums[h]) * scale;
    }
}

// Adds to W registers of H sums, from the `first` on, `count` values times their shares.
template <Kept T, int H, int W>
void values_of(const float* shares, int64_t stride, const Registers& head, int64_t first, const uint8_t* values, int64_t row_bytes,
               int64_t count, float* sums, int64_t ahead) {
    const int64_t apart = head.count() * kRows;
    int64_t at[W];
    Floats acc[H][W];
    for (int w = 0; w < W; ++w) {
        at[w] = head.at(first + w);
        for (int h = 0; h < H; ++h) acc[h][w] = load_floats(sums + h * apart + (first + w) * kRows);
    }
    for (int64_t t = 0; t < count; ++t, values += row_bytes) {
        ask_for(values, row_bytes, ahead);
        Floats p[H];
        for (int h = 0; h < H; ++h) p[h] = broadcast(shares + h * stride + t);
        for (int w = 0; w < W; ++w) {
            const Floats v = kept_at<T>(values, at[w]);
            for (int h = 0; h < H; ++h) acc[h][w] = fma(p[h], v, acc[h][w]);
        }
    }
    for (int w = 0; w < W; ++w)
        for (int h = 0; h < H; ++h) store(sums + h * apart + (first + w) * kRows, acc[h][w]);
}

constexpr int kAbreast = kTile >= 8 ? 4 : 2;  // registers of sums a head, of two heads at a time

template <Kept T, int H>
void all_values(const float* shares, int64_t stride, const Registers& head, const uint8_t* values, int64_t row_bytes, int64_t count,
                float* sums, int64_t ahead) {
    int64_t i = 0;
    for (; i + kAbreast <= head.count(); i += kAbreast)
        values_of<T, H, kAbreast>(shares, stride, head, i, values, row_bytes, count, sums, i ? 0 : ahead);
    for (; i < head.count(); ++i) values_of<T, H, 1>(shares, stride, head, i, values, row_bytes, count, sums, i ? 0 : ahead);
}

// exp(score - largest) of each, divided by their sum; NaN everywhere if one is, or the largest is infinite.
void share_out(float* scores, int64_t tokens) {
    const float top = peak_of(scores, tokens), nothing = 0.0f;
    for (int64_t t = 0; t < tokens; ++t) scores[t] = exp_of(scores[t] - top);  // alone: beside a sum it would be no vector
    Floats sums = zeros();
    int64_t t = 0;
    for (; t + kRows <= tokens; t += kRows) sums = add(sums, load_floats(scores + t));
    float total = sum_lanes(sums);
    for (; t < tokens; ++t) total += scores[t];
    const float share = 1.0f / total + top * nothing;
    for (t = 0; t < tokens; ++t) scores[t] *= share;
}

// Rows that can be read where they lie as T: these, or floats made of codes.
struct ReadRows { const uint8_t* data; int64_t row_bytes; };

template <Kept T>
ReadRows read_rows(const KeptRows& kept, int64_t begin, int64_t count, float* room) {
    const KeptRows from = kept.from(begin);
    if (kept.type == T) return {from.data, from.row_bytes()};
    fetch_rows(from, count, room);
    return {reinterpret_cast<const uint8_t*>(room), 4 * kept.dim};
}

template <Kept T>
void attend_as(const Attend& a, float* scratch) {
    const Registers head{a.dim};
    const int64_t tokens = a.tokens, wide = head.count() * kRows;
    float *queries = scratch, *sums = queries + a.heads * wide, *scores = sums + a.heads * wide, *room = scores + a.heads * tokens;
    for (int64_t h = 0; h < a.heads; ++h) lay_query(a.q + h * a.dim, head, queries + h * wide);
    std::fill_n(sums, a.heads * wide, 0.0f);
    for (int64_t begin = 0; begin < tokens; begin += kAtOnce) {
        const int64_t count = std::min(tokens - begin, kAtOnce);
        const ReadRows k = read_rows<T>(a.k, begin, count, room);
        for (int64_t h = 0; h < a.heads; h += 2) {
            const auto part = a.heads - h > 1 ? scores_of<T, 2> : scores_of<T, 1>;
            part(queries + h * wide, head, k.data, k.row_bytes, count, a.scale, scores + h * tokens + begin, tokens, h ? 0 : a.ahead);
        }
    }
    for (int64_t h = 0; h < a.heads; ++h) share_out(scores + h * tokens, tokens);
    for (int64_t begin = 0; begin < tokens; begin += kAtOnce) {
        const int64_t count = std::min(tokens - begin, kAtOnce);
        const ReadRows v = read_rows<T>(a.v, begin, count, room);
        for (int64_t h = 0; h < a.heads; h += 2) {
            const auto part = a.heads - h > 1 ? all_values<T, 2> : all_values<T, 1>;
            part(scores + h * tokens + begin, tokens, head, v.data, v.row_bytes, count, sums + h * wide, h ? 0 : a.ahead);
        }
    }
    for (int64_t h = 0; h < a.heads; ++h)
        for (int64_t i = 0; i < head.count(); ++i) store(a.out + h * a.dim + head.at(i), load_floats(sums + h * wide + i * kRows));
}

void attend_head(const Attend& a, float* scratch) {
    switch (a.k.type) {
        case Kept::F16: return attend_as<Kept::F16>(a, scratch);
        case Kept::BF16: return attend_as<Kept::BF16>(a, scratch);
        default: return attend_as<Kept::F32>(a, scratch);
    }
}
