// Attention of one new token (a decode step). Query heads that share a key head read the KV cache together, in its own dtype. Included
// by each tier after kv_rows.inl.

// Sixteen numbers of a row of floats, from the `at`th on.
template <KVDtype T>
INLINE Floats kv_lanes(const uint8_t* row, int64_t at) {
    if constexpr (T == KVDtype::F32) return load_floats(reinterpret_cast<const float*>(row) + at);
    else if constexpr (T == KVDtype::F16) return load_f16(row + 2 * at);
    else return load_bf16(row + 2 * at);
}

// A head in registers. Where it is no whole number of them the last one begins earlier, and so holds some numbers a second time.
struct Registers {
    int64_t dim;
    int64_t count() const { return registers_of(dim); }
    int64_t at(int64_t i) const { return std::min(i * kRows, dim - kRows); }
    int64_t twice() const { return count() * kRows - dim; }
};

// Asks memory for lines that will be read, some with each row that is computed. Keys of several rows are loaded side by side, and values a few
// registers of a row at a time, by some heads after others: no prefetcher follows that. Intel's cores ask 2 KB ahead, into the first cache, while
// the first heads compute. For others lines of the next tile come evenly while all heads go through one: into the second cache, since the first
// holds the tile (measured on Zen 4, with AVX-512 and AVX2), but on Zen 5 into the first, a line or two at a time.
class LinesAhead {
  public:
    // All of `count` rows from `data` on, in so many passes through as many rows.
    LinesAhead(const KVRows& rows, int64_t count, int64_t passes, bool far, bool evenly)
        : at_(rows.data), end_(rows.data + count * rows.row_bytes()), a_row_((rows.row_bytes() + 64 * passes - 1) / (64 * passes) * 64), far_(far), evenly_(evenly) {}
    static LinesAhead none() { return {KVRows{KVDtype::F32, 0, 1, nullptr, nullptr}, 0, 1, false, false}; }

    INLINE void ask(int64_t rows) { ask_bytes(rows * a_row_); }
    // The same, or what `ask_bytes` takes with each of so many parts of the rows' work.
    INLINE int64_t ask(int64_t rows, int64_t parts) {
        if (evenly_) return (rows * a_row_ / parts + 63) / 64 * 64;
        ask(rows);
        return 0;
    }
    INLINE void ask_bytes(int64_t bytes) {
        const uint8_t* to = std::min(at_ + bytes, end_);
        if (far_) for (; at_ < to; at_ += 64) PREFETCH_FAR(at_);
        else for (; at_ < to; at_ += 64) PREFETCH(at_);
    }

  private:
    const uint8_t *at_, *end_;
    int64_t a_row_;  // bytes
    bool far_, evenly_;
};

// A query with zeros where its last register holds numbers a second time.
void load_query(const float* q, const Registers& head, float* to) {
    for (int64_t i = 0; i < head.count(); ++i, to += kRows) {
        store(to, load_floats(q + head.at(i)));
        if (i + 1 == head.count()) std::fill_n(to, head.twice(), 0.0f);
    }
}

// The sums of each one's lanes. Sixteen are summed together where a tier has a way.
template <int N>
INLINE void sum_each(const Floats (&x)[N], float* out) {
    UNROLL for (int i = 0; i < N; ++i) out[i] = sum_lanes(x[i]);
}

// Products of H queries with R keys, `stride` apart.
template <KVDtype T, int H, int R>
INLINE void query_key_tile(const float* queries, const Registers& head, const uint8_t* keys, int64_t row_bytes, float scale, float* scores,
                           int64_t stride, LinesAhead& ahead) {
    const int64_t registers = head.count(), part = ahead.ask(R, registers);
    Floats sums[H * R];
    UNROLL for (int i = 0; i < H * R; ++i) sums[i] = zeros();
    for (int64_t i = 0; i < registers; ++i, queries += kRows) {
        if (part) ahead.ask_bytes(part);
        Floats k[R];
        UNROLL for (int r = 0; r < R; ++r) k[r] = kv_lanes<T>(keys + r * row_bytes, head.at(i));
        UNROLL for (int h = 0; h < H; ++h) {
            const Floats q = load_floats(queries + h * registers * kRows);
            UNROLL for (int r = 0; r < R; ++r) sums[h * R + r] = fma(q, k[r], sums[h * R + r]);
        }
    }
    float made[H * R];
    sum_each(sums, made);
    UNROLL for (int h = 0; h < H; ++h)
        UNROLL for (int r = 0; r < R; ++r) scores[h * stride + r] = made[h * R + r] * scale;
}

template <KVDtype T, int H>
void query_key_scores(const float* queries, const Registers& head, const uint8_t* keys, int64_t row_bytes, int64_t count, float scale,
               float* scores, int64_t stride, LinesAhead& ahead) {
    constexpr int R = kTile >= 8 ? (H >= 4 ? 4 : 8) : 2;  // as many sums as there are registers for
    int64_t t = 0;
    for (; t + R <= count; t += R, keys += R * row_bytes) {
        query_key_tile<T, H, R>(queries, head, keys, row_bytes, scale, scores + t, stride, ahead);
    }
    for (; t < count; ++t, keys += row_bytes) {
        query_key_tile<T, H, 1>(queries, head, keys, row_bytes, scale, scores + t, stride, ahead);
    }
}

// Adds to W registers of H sums, from the `first` on, `count` values times their shares.
template <KVDtype T, int H, int W>
void weighted_values(const float* shares, int64_t stride, const Registers& head, int64_t first, const uint8_t* values, int64_t row_bytes,
               int64_t count, float* sums, LinesAhead& ahead) {
    const int64_t apart = head.count() * kRows;
    int64_t at[W];
    Floats acc[H][W];
    UNROLL for (int w = 0; w < W; ++w) {
        at[w] = head.at(first + w);
        UNROLL for (int h = 0; h < H; ++h) acc[h][w] = load_floats(sums + h * apart + (first + w) * kRows);
    }
    for (int64_t t = 0; t < count; ++t, values += row_bytes) {
        ahead.ask(1);
        Floats p[H];
        UNROLL for (int h = 0; h < H; ++h) p[h] = broadcast(shares + h * stride + t);
        UNROLL for (int w = 0; w < W; ++w) {
            const Floats v = kv_lanes<T>(values, at[w]);
            UNROLL for (int h = 0; h < H; ++h) acc[h][w] = fma(p[h], v, acc[h][w]);
        }
    }
    UNROLL for (int w = 0; w < W; ++w)
        UNROLL for (int h = 0; h < H; ++h) store(sums + h * apart + (first + w) * kRows, acc[h][w]);
}

constexpr int kAbreast = kTile >= 8 ? 4 : 2;  // registers of sums a head
constexpr int kHeads = kTile >= 8 ? 4 : 2;     // that are computed at a time
inline int64_t heads_at_once(int64_t left) { return left >= kHeads ? kHeads : left >= 2 ? 2 : 1; }

template <KVDtype T, int H>
void all_weighted_values(const float* shares, int64_t stride, const Registers& head, const uint8_t* values, int64_t row_bytes, int64_t count,
                float* sums, LinesAhead& ahead) {
    int64_t i = 0;
    for (; i + kAbreast <= head.count(); i += kAbreast)
        weighted_values<T, H, kAbreast>(shares, stride, head, i, values, row_bytes, count, sums, ahead);
    for (; i < head.count(); ++i) weighted_values<T, H, 1>(shares, stride, head, i, values, row_bytes, count, sums, ahead);
}

// exp(score - largest) of each, divided by their sum; NaN everywhere if one is, or the largest is infinite. `sink`: one more score, or null.
void softmax(float* scores, int64_t tokens, const float* sink) {
    float top = peak_of(scores, tokens);
    if (sink && *sink > top) top = *sink;
    const float nothing = 0.0f;
    for (int64_t t = 0; t < tokens; ++t) scores[t] = exp_of(scores[t] - top);  // alone: beside a sum it would be no vector
    Floats sums = zeros();
    int64_t t = 0;
    for (; t + kRows <= tokens; t += kRows) sums = add(sums, load_floats(scores + t));
    float total = sum_lanes(sums);
    for (; t < tokens; ++t) total += scores[t];
    if (sink) total += exp_of(*sink - top);
    const float share = 1.0f / total + top * nothing;
    for (t = 0; t < tokens; ++t) scores[t] *= share;
}

// Rows that can be read where they lie as T: these, or floats made of codes.
struct ReadRows { const uint8_t* data; int64_t row_bytes; };

template <KVDtype T>
ReadRows read_rows(const KVRows& kv, int64_t begin, int64_t count, float* room) {
    const KVRows from = kv.from(begin);
    if (kv.type == T) return {from.data, from.row_bytes()};
    load_kv_rows(from, count, room);
    return {reinterpret_cast<const uint8_t*>(room), 4 * kv.dim};
}

// What memory is asked for while heads go through a tile of `count` rows in so many passes. `next`: the tile after it.
LinesAhead lines_ahead(const DecodeAttention& a, const KVRows& tile, int64_t count, const KVRows& next, int64_t next_count, int64_t passes) {
    if (!a.ahead) return LinesAhead(next, next_count, passes, !a.near, a.near);
    KVRows later = tile;
    later.data += a.ahead;
    return LinesAhead(later, count, 1, false, false);
}

template <KVDtype T>
void decode_attention_as(const DecodeAttention& a, float* scratch) {
    const Registers head{a.dim};
    const int64_t tokens = a.tokens, wide = head.count() * kRows;
    float *queries = scratch, *sums = queries + a.heads * wide, *scores = sums + a.heads * wide, *room = scores + a.heads * tokens;
    for (int64_t h = 0; h < a.heads; ++h) load_query(a.q + h * a.dim, head, queries + h * wide);
    std::fill_n(sums, a.heads * wide, 0.0f);
    int64_t turns = 0;  // of heads that are computed at a time
    for (int64_t h = 0; h < a.heads; h += heads_at_once(a.heads - h)) ++turns;
    const int64_t parts = head.count() / kAbreast + head.count() % kAbreast;  // of a value, which are computed at a time
    for (int64_t begin = 0; begin < tokens; begin += kKVTile) {
        const int64_t count = std::min(tokens - begin, kKVTile);
        const ReadRows k = read_rows<T>(a.k, begin, count, room);
        const bool last = begin + count == tokens;
        LinesAhead ahead = lines_ahead(a, a.k.from(begin), count, last ? a.v : a.k.from(begin + count),
                                       std::min(kKVTile, last ? tokens : tokens - begin - count), turns);
        for (int64_t h = 0, n; h < a.heads; h += n) {
            n = heads_at_once(a.heads - h);
            const auto part = n == kHeads ? query_key_scores<T, kHeads> : n == 2 ? query_key_scores<T, 2> : query_key_scores<T, 1>;
            part(queries + h * wide, head, k.data, k.row_bytes, count, a.scale, scores + h * tokens + begin, tokens, ahead);
        }
    }
    for (int64_t h = 0; h < a.heads; ++h) softmax(scores + h * tokens, tokens, a.sinks ? a.sinks + h : nullptr);
    for (int64_t begin = 0; begin < tokens; begin += kKVTile) {
        const int64_t count = std::min(tokens - begin, kKVTile);
        const ReadRows v = read_rows<T>(a.v, begin, count, room);
        const int64_t left = std::min(kKVTile, tokens - begin - count);
        LinesAhead ahead = lines_ahead(a, a.v.from(begin), count, a.v.from(begin + count), left, turns * parts);
        for (int64_t h = 0, n; h < a.heads; h += n) {
            n = heads_at_once(a.heads - h);
            const auto part = n == kHeads ? all_weighted_values<T, kHeads> : n == 2 ? all_weighted_values<T, 2> : all_weighted_values<T, 1>;
            part(scores + h * tokens + begin, tokens, head, v.data, v.row_bytes, count, sums + h * wide, ahead);
        }
    }
    for (int64_t h = 0; h < a.heads; ++h)
        for (int64_t i = 0; i < head.count(); ++i) store(a.out + h * a.dim + head.at(i), load_floats(sums + h * wide + i * kRows));
}

void decode_attention(const DecodeAttention& a, float* scratch) {
    switch (a.k.type) {
        case KVDtype::F16: return decode_attention_as<KVDtype::F16>(a, scratch);
        case KVDtype::BF16: return decode_attention_as<KVDtype::BF16>(a, scratch);
        default: return decode_attention_as<KVDtype::F32>(a, scratch);
    }
}

template <KVDtype T>
void row_products_as(const KVRows& rows, int64_t count, bool transposed, const float* x, float* out, float* scratch) {
    const Registers row{rows.dim};
    LinesAhead none = LinesAhead::none();
    if (!transposed) {
        load_query(x, row, scratch);
        query_key_scores<T, 1>(scratch, row, rows.data, rows.row_bytes(), count, 1.0f, out, 0, none);
        return;
    }
    std::fill_n(scratch, row.count() * kRows, 0.0f);
    all_weighted_values<T, 1>(x, 0, row, rows.data, rows.row_bytes(), count, scratch, none);
    for (int64_t i = 0; i < row.count(); ++i) store(out + row.at(i), load_floats(scratch + i * kRows));
}

void row_products(const KVRows& rows, int64_t count, bool transposed, const float* x, float* out, float* scratch) {
    switch (rows.type) {
        case KVDtype::F16: return row_products_as<KVDtype::F16>(rows, count, transposed, x, out, scratch);
        case KVDtype::BF16: return row_products_as<KVDtype::BF16>(rows, count, transposed, x, out, scratch);
        default: return row_products_as<KVDtype::F32>(rows, count, transposed, x, out, scratch);
    }
}
