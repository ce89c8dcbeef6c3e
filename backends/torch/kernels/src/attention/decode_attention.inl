// Attention of one new token (a decode step). Query heads that share a key head read the KV cache together, as it is stored. Included
// by each tier after kv_rows.inl.

constexpr int64_t kCodes = 2 * kRows;  // that become floats together

// Whether codes can become floats in the registers that multiply them: those that are made together have one scale.
inline bool fits_registers(const KVRows& rows) { return is_codes(rows.type) && rows.group % kCodes == 0 && rows.dim % rows.group == 0; }

// Registers of a row that are made together.
constexpr int together(KVDtype type) { return is_codes(type) ? 2 : 1; }

// Rows of a tile where they lie; of codes: [row][group][scale, least] as floats.
struct TileRows {
    const uint8_t* data;
    int64_t row_bytes;
    const float* params;
    int64_t row_params, group;
    TileRows from(int64_t row) const { return {data + row * row_bytes, row_bytes, params + row * row_params, row_params, group}; }
};

// A row's numbers from the `at`th on. Of 4-bit codes the even ones, then the odd ones.
template <KVDtype T>
INLINE void load_numbers(const uint8_t* row, int64_t at, const float* params, Floats (&to)[together(T)]) {
    if constexpr (T == KVDtype::F32) {
        to[0] = load_floats(reinterpret_cast<const float*>(row) + at);
    } else if constexpr (T == KVDtype::F16) {
        to[0] = load_f16(row + 2 * at);
    } else if constexpr (T == KVDtype::BF16) {
        to[0] = load_bf16(row + 2 * at);
    } else {
        if constexpr (T == KVDtype::Int8) {
            to[0] = to_floats(octets(row + at));
            to[1] = to_floats(octets(row + at + kRows));
        } else {
            const Octets pairs = octets(row + at / 2);
            to[0] = to_floats(shift_and_mask<0, 15>(pairs));
            to[1] = to_floats(shift_and_mask<4, 15>(pairs));
        }
        const Floats scale = broadcast(params), least = broadcast(params + 1);
        UNROLL for (Floats& x : to) x = fma(x, scale, least);
    }
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

// Groups of H heads are computed together. Their queries, and sums of values, are [register][head][16], their scores [token][head].
constexpr int most_heads(KVDtype type) { return kTile < 8 ? 2 : is_codes(type) ? 8 : 4; }  // codes become floats once for a group

// Calls `run` with the number of each group, its first head and H, which is a constant.
template <int Most, typename Run>
INLINE void each_group(int64_t heads, Run run) {
    int64_t group = 0, head = 0;
    for (; head + Most <= heads; head += Most) run(group++, head, std::integral_constant<int, Most>());
    if constexpr (Most > 4)
        if (heads - head >= 4) run(group++, head, std::integral_constant<int, 4>()), head += 4;
    if (heads - head >= 2) run(group++, head, std::integral_constant<int, 2>()), head += 2;
    if (heads > head) run(group, head, std::integral_constant<int, 1>());
}

// In the order in which registers of keys hold their numbers, with zeros where the last one holds some a second time.
template <KVDtype T>
void load_queries(const float* q, const Registers& head, int heads, float* to) {
    for (int64_t i = 0; i < head.count(); ++i)
        for (int h = 0; h < heads; ++h, to += kRows) {
            const float* from = q + h * head.dim;
            if constexpr (T == KVDtype::Int4) {
                from += i / 2 * kCodes + i % 2;
                for (int64_t n = 0; n < kRows; ++n) to[n] = from[2 * n];
            } else {
                store(to, load_floats(from + head.at(i)));
                if (i + 1 == head.count()) std::fill_n(to, head.twice(), 0.0f);
            }
        }
}

template <KVDtype T>
void store_outputs(const float* sums, const Registers& head, int heads, const float* shares, float* out) {
    for (int64_t i = 0; i < head.count(); ++i)
        for (int h = 0; h < heads; ++h, sums += kRows) {
            float* to = out + h * head.dim;
            if constexpr (T == KVDtype::Int4) {
                to += i / 2 * kCodes + i % 2;
                for (int64_t n = 0; n < kRows; ++n) to[2 * n] = sums[n] * shares[h];
            } else {
                store(to + head.at(i), mul(load_floats(sums), broadcast(shares + h)));
            }
        }
}

// The sums of each one's lanes. Sixteen are summed together where a tier has a way.
template <int N>
INLINE void sum_each(const Floats (&x)[N], float* out) {
    UNROLL for (int i = 0; i < N; ++i) out[i] = sum_lanes(x[i]);
}

// Products of H queries with R keys.
template <KVDtype T, int H, int R>
INLINE void query_key_tile(const float* queries, const Registers& head, const TileRows& keys, float scale, float* scores, LinesAhead& ahead) {
    constexpr int N = together(T);
    const int64_t part = ahead.ask(R, head.count() / N);
    Floats sums[R * H];
    UNROLL for (int i = 0; i < R * H; ++i) sums[i] = zeros();
    const auto add_numbers = [&](int64_t at, const float* q, const float* params) INLINE_LAMBDA {
        if (part) ahead.ask_bytes(part);
        Floats k[R][N];
        UNROLL for (int r = 0; r < R; ++r) load_numbers<T>(keys.data + r * keys.row_bytes, at, params + r * keys.row_params, k[r]);
        UNROLL for (int n = 0; n < N; ++n) {
            UNROLL for (int h = 0; h < H; ++h, q += kRows) {
                const Floats x = load_floats(q);
                UNROLL for (int r = 0; r < R; ++r) sums[r * H + h] = fma(x, k[r][n], sums[r * H + h]);
            }
        }
    };
    const int64_t whole = head.dim / kRows * kRows;
    const float* params = keys.params;
    for (int64_t at = 0; at < whole; params += 2)
        for (const int64_t end = is_codes(T) ? at + keys.group : whole; at < end; at += N * kRows) add_numbers(at, queries + at * H, params);
    if constexpr (!is_codes(T))
        if (head.twice()) add_numbers(head.dim - kRows, queries + whole * H, params);
    sum_each(sums, scores);
    UNROLL for (int i = 0; i < R * H; ++i) scores[i] *= scale;
}

template <KVDtype T, int H>
void query_key_scores(const float* queries, const Registers& head, const TileRows& keys, int64_t count, float scale, float* scores, LinesAhead& ahead) {
    constexpr int R = kTile >= 8 ? (H > 4 ? 2 : H == 4 ? 4 : 8) : 2;  // as many sums as there are registers for
    int64_t t = 0;
    for (; t + R <= count; t += R) query_key_tile<T, H, R>(queries, head, keys.from(t), scale, scores + t * H, ahead);
    for (; t < count; ++t) query_key_tile<T, H, 1>(queries, head, keys.from(t), scale, scores + t * H, ahead);
}

// Adds to W registers of H sums, from the `first` on, `count` values times their shares.
template <KVDtype T, int H, int W>
void weighted_values(const float* shares, const Registers& head, int64_t first, const TileRows& values, int64_t count, float* sums, LinesAhead& ahead) {
    constexpr int N = together(T);
    int64_t at[W], group[W];
    Floats acc[W][H];
    sums += first * H * kRows;
    UNROLL for (int w = 0; w < W; ++w) {
        at[w] = head.at(first + w);
        group[w] = is_codes(T) ? 2 * (at[w] / values.group) : 0;
        UNROLL for (int h = 0; h < H; ++h) acc[w][h] = load_floats(sums + (w * H + h) * kRows);
    }
    const uint8_t* row = values.data;
    const float* params = values.params;
    for (int64_t t = 0; t < count; ++t, shares += H, row += values.row_bytes, params += values.row_params) {
        ahead.ask(1);
        Floats p[H];
        UNROLL for (int h = 0; h < H; ++h) p[h] = broadcast(shares + h);
        UNROLL for (int w = 0; w < W; w += N) {
            Floats v[N];
            load_numbers<T>(row, at[w], params + group[w], v);
            UNROLL for (int n = 0; n < N; ++n)
                UNROLL for (int h = 0; h < H; ++h) acc[w + n][h] = fma(p[h], v[n], acc[w + n][h]);
        }
    }
    UNROLL for (int w = 0; w < W; ++w)
        UNROLL for (int h = 0; h < H; ++h) store(sums + (w * H + h) * kRows, acc[w][h]);
}

constexpr int abreast(int heads) { return kTile < 8 || heads > 4 ? 2 : 4; }  // registers of values that are computed together

template <KVDtype T, int H>
void all_weighted_values(const float* shares, const Registers& head, const TileRows& values, int64_t count, float* sums, LinesAhead& ahead) {
    constexpr int N = together(T), W = abreast(H);
    int64_t i = 0;
    for (; i + W <= head.count(); i += W) weighted_values<T, H, W>(shares, head, i, values, count, sums, ahead);
    for (; i < head.count(); i += N) weighted_values<T, H, N>(shares, head, i, values, count, sums, ahead);
}

// The softmax of a group of heads. A lane's scores are some of one head's: of `lane % heads`.
struct GroupSoftmax {
    float top[kRows], total[kRows], bad[kRows];  // the largest score, the sum, and NaN where one was no number

    void begin() {
        std::fill_n(top, kRows, -std::numeric_limits<float>::infinity());
        std::fill_n(total, kRows, 0.0f);
        std::fill_n(bad, kRows, 0.0f);
    }
    // All scores come here first.
    void see(const float* scores, int64_t count) {
        Floats largest = load_floats(top), no_numbers = load_floats(bad);
        for (; count >= kRows; count -= kRows, scores += kRows) {
            const Floats x = load_floats(scores);
            largest = at_least(x, largest);
            no_numbers = fma(x, zeros(), no_numbers);
        }
        store(top, largest);
        store(bad, no_numbers);
        for (int64_t i = 0; i < count; ++i) {
            top[i] = std::max(top[i], scores[i]);
            bad[i] += scores[i] * 0.0f;
        }
    }
    // Then the largest of a head becomes that of its lanes. `sinks`: one more score a head, or null.
    void join(int heads, const float* sinks) {
        for (int h = 0; h < heads; ++h) {
            float largest = sinks ? sinks[h] : top[h];
            for (int i = h; i < kRows; i += heads) largest = std::max(largest, top[i]);
            for (int i = h; i < kRows; i += heads) top[i] = largest;
            if (sinks) total[h] = exp_of(sinks[h] - largest);
        }
    }
    // Then each becomes exp(score - largest).
    void exponentials(float* scores, int64_t count) {
        GroupSoftmax s = *this;
        for (; count >= kRows; count -= kRows, scores += kRows) s.lane_exponentials(scores, kRows);
        s.lane_exponentials(scores, count);
        *this = s;
    }
    // What the sum of a head's values is multiplied with; NaN where a score was no number, or infinite.
    float share(int heads, int head) const {
        float all = 0.0f, no_number = 0.0f;
        for (int i = head; i < kRows; i += heads) all += total[i], no_number += bad[i];
        return 1.0f / all + no_number;
    }

  private:
    INLINE void lane_exponentials(float* scores, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
            scores[i] = exp_of(scores[i] - top[i]);
            total[i] += scores[i];
        }
    }
};

// Rows that can be read as T: these where they lie, or floats made of codes in `room`, which holds scales, too.
template <KVDtype T>
TileRows read_rows(const KVRows& kv, int64_t begin, int64_t count, float* room) {
    const KVRows from = kv.from(begin);
    if (kv.type != T) {
        load_kv_rows(from, count, room);
        return {reinterpret_cast<const uint8_t*>(room), 4 * kv.dim, nullptr, 0, 0};
    }
    if (!is_codes(T)) return {from.data, from.row_bytes(), nullptr, 0, 0};
    const int64_t params = 2 * (kv.dim / kv.group);
    load_halves<true>(from.params, count * params, room);
    return {from.data, from.row_bytes(), room, params, kv.group};
}

// What memory is asked for while heads go through a tile of `count` rows in so many passes. `next`: the tile after it.
LinesAhead lines_ahead(const DecodeAttention& a, const KVRows& tile, int64_t count, const KVRows& next, int64_t next_count, int64_t passes) {
    if (!a.ahead) return LinesAhead(next, next_count, passes, !a.near, a.near);
    KVRows later = tile;
    later.data += a.ahead;
    return LinesAhead(later, count, 1, false, false);
}

// How heads are multiplied with rows of T: in floats, which codes become in registers.
template <KVDtype T>
struct FloatProducts {
    static constexpr KVDtype type = T;

    template <int H>
    static void begin(const float* q, const Registers& head, int64_t, float, float* queries) { load_queries<T>(q, head, H, queries); }
    template <int H>
    static void scores(float* queries, const Registers& head, const TileRows& keys, int64_t count, float scale, float* scores, LinesAhead& ahead) {
        query_key_scores<T, H>(queries, head, keys, count, scale, scores, ahead);
    }
    // `room`: of a tile, behind its scales.
    template <int H>
    static void add_values(const float* shares, const Registers& head, const TileRows& values, int64_t count, float*, float* sums, LinesAhead& ahead) {
        all_weighted_values<T, H>(shares, head, values, count, sums, ahead);
    }
};

template <typename Products>
void decode_attention_by(const DecodeAttention& a, float* scratch) {
    constexpr KVDtype T = Products::type;
    const Registers head{a.dim};
    const int64_t tokens = a.tokens, wide = head.count() * kRows, room_of_scores = (tokens + kRows - 1) / kRows * kRows;
    const int64_t tile = a.near ? kKVTile / 2 : kKVTile;
    // all at whole cache lines, since a load from two takes twice as long
    float *queries = scratch, *sums = queries + a.heads * wide, *scores = sums + a.heads * wide, *room = scores + a.heads * room_of_scores;
    auto* softmax = reinterpret_cast<GroupSoftmax*>(room + kKVTile * wide);  // of each group
    int64_t groups = 0, parts = 0;  // parts: of values, which are computed one after the other
    each_group<most_heads(T)>(a.heads, [&](int64_t group, int64_t h, auto H) INLINE_LAMBDA {
        Products::template begin<H>(a.q + h * a.dim, head, a.k.group, a.scale, queries + h * wide);
        softmax[group].begin();
        ++groups;
        parts += head.count() / abreast(H) + head.count() % abreast(H) / together(T);
    });
    std::fill_n(sums, a.heads * wide, 0.0f);
    for (int64_t begin = 0; begin < tokens; begin += tile) {
        const int64_t count = std::min(tokens - begin, tile);
        const TileRows k = read_rows<T>(a.k, begin, count, room);
        const bool last = begin + count == tokens;
        LinesAhead ahead = lines_ahead(a, a.k.from(begin), count, last ? a.v : a.k.from(begin + count),
                                       std::min(tile, last ? tokens : tokens - begin - count), groups);
        each_group<most_heads(T)>(a.heads, [&](int64_t group, int64_t h, auto H) INLINE_LAMBDA {
            float* made = scores + h * room_of_scores + begin * H;
            Products::template scores<H>(queries + h * wide, head, k, count, a.scale, made, ahead);
            softmax[group].see(made, count * H);
        });
    }
    each_group<most_heads(T)>(a.heads, [&](int64_t group, int64_t h, auto H) INLINE_LAMBDA { softmax[group].join(H, a.sinks ? a.sinks + h : nullptr); });
    for (int64_t begin = 0; begin < tokens; begin += tile) {
        const int64_t count = std::min(tokens - begin, tile);
        const TileRows v = read_rows<T>(a.v, begin, count, room);
        LinesAhead ahead = lines_ahead(a, a.v.from(begin), count, a.v.from(begin + count), std::min(tile, tokens - begin - count), parts);
        each_group<most_heads(T)>(a.heads, [&](int64_t group, int64_t h, auto H) INLINE_LAMBDA {
            float* shares = scores + h * room_of_scores + begin * H;
            softmax[group].exponentials(shares, count * H);
            Products::template add_values<H>(shares, head, v, count, room + count * v.row_params, sums + h * wide, ahead);
        });
    }
    each_group<most_heads(T)>(a.heads, [&](int64_t group, int64_t h, auto H) INLINE_LAMBDA {
        float shares[H];
        for (int i = 0; i < H; ++i) shares[i] = softmax[group].share(H, i);
        store_outputs<T>(sums + h * wide, head, H, shares, a.out + h * a.dim);
    });
}

void decode_attention(const DecodeAttention& a, float* scratch) {
    switch (a.k.type) {
        case KVDtype::F16: return decode_attention_by<FloatProducts<KVDtype::F16>>(a, scratch);
        case KVDtype::BF16: return decode_attention_by<FloatProducts<KVDtype::BF16>>(a, scratch);
        case KVDtype::Int8: if (fits_registers(a.k)) return decode_attention_by<FloatProducts<KVDtype::Int8>>(a, scratch); break;
        case KVDtype::Int4: if (fits_registers(a.k)) return decode_attention_by<FloatProducts<KVDtype::Int4>>(a, scratch); break;
        case KVDtype::F32: break;
    }
    decode_attention_by<FloatProducts<KVDtype::F32>>(a, scratch);
}

template <KVDtype T>
void row_products_as(const KVRows& rows, int64_t count, bool transposed, const float* x, float* out, float* scratch) {
    const Registers row{rows.dim};
    const TileRows all{rows.data, rows.row_bytes(), nullptr, 0, 0};
    LinesAhead none = LinesAhead::none();
    if (!transposed) {
        load_queries<T>(x, row, 1, scratch);
        query_key_scores<T, 1>(scratch, row, all, count, 1.0f, out, none);
        return;
    }
    std::fill_n(scratch, row.count() * kRows, 0.0f);
    all_weighted_values<T, 1>(x, row, all, count, scratch, none);
    for (int64_t i = 0; i < row.count(); ++i) store(out + row.at(i), load_floats(scratch + i * kRows));
}

void row_products(const KVRows& rows, int64_t count, bool transposed, const float* x, float* out, float* scratch) {
    switch (rows.type) {
        case KVDtype::F16: return row_products_as<KVDtype::F16>(rows, count, transposed, x, out, scratch);
        case KVDtype::BF16: return row_products_as<KVDtype::BF16>(rows, count, transposed, x, out, scratch);
        default: return row_products_as<KVDtype::F32>(rows, count, transposed, x, out, scratch);
    }
}
