// Attention of one new token to a KV cache of codes by an instruction that multiplies pairs of 16-bit integers: twice as many numbers as one of
// floats does, and no code becomes a float. Queries are rounded to 16 bits, with a scale for each head; so are the shares of values times the
// values' scales, with one for each head, group of numbers and tile. Only where several heads use a code. Included after decode_attention.inl.

// total + the products of 32 numbers, each two of which are added.
INLINE __m512i add_pair_products(__m512i total, __m512i x, __m512i y) {
#if defined(__GNUC__)
    asm("vpdpwssd %2, %1, %0" : "+v"(total) : "v"(x), "v"(y));  // GCC copies sums from register to register
    return total;
#else
    return _mm512_dpwssd_epi32(total, x, y);
#endif
}

// What 16-bit numbers are multiplied with, and what makes floats such. `top`: the bits of each lane's largest float, without its sign. Where that is
// not finite there are no numbers, and the scale makes NaN of them.
INLINE void short_scales(__m512i top, __m512& scale, __m512& inverse) {
    const __m512 peak = _mm512_castsi512_ps(top), most = _mm512_set1_ps(32767.0f);
    const __mmask16 finite = _mm512_cmplt_epu32_mask(top, _mm512_set1_epi32(0x7f800000));
    scale = _mm512_div_ps(peak, most);
    inverse = _mm512_mask_div_ps(_mm512_setzero_ps(), finite & _mm512_cmp_ps_mask(peak, _mm512_set1_ps(1e-30f), _CMP_GT_OQ), most, peak);
}

// Of H heads, in as many floats as they have.
template <int H>
struct ShortQueries {
    int16_t* numbers;  // [dim / 32][head][32]
    float* sums;       // [scales and leasts of a row, in whole registers][head][16]: zeros for scales, a group's sum for its least
    float* scales;     // of each sum of a tile
    ShortQueries(float* room, int64_t dim, int64_t row_params)
        : numbers(reinterpret_cast<int16_t*>(room)), sums(room + H * dim / 2), scales(sums + registers_of(row_params) * H * kRows) {}
};

template <int H>
void round_queries(const float* q, int64_t dim, int64_t group, float scale, const ShortQueries<H>& to) {
    std::fill_n(to.sums, to.scales - to.sums, 0.0f);
    for (int h = 0; h < H; ++h, q += dim) {
        Ints top = magnitudes(q);
        for (int64_t at = kRows; at < dim; at += kRows) top = larger(top, magnitudes(q + at));
        __m512 step, inverse;
        short_scales(_mm512_set1_epi32(largest(top)), step, inverse);
        for (int i = h; i < kRows; i += H) to.scales[i] = _mm512_cvtss_f32(step) * scale;
        for (int64_t at = 0, g = 0; at < dim; at += group, ++g) {
            __m512i sum = _mm512_setzero_si512();
            for (int64_t i = at; i < at + group; i += kRows) {
                const __m512i numbers = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(q + i), inverse));
                sum = _mm512_add_epi32(sum, numbers);
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.numbers + (i / kCodes * H + h) * kCodes + i % kCodes), _mm512_cvtepi32_epi16(numbers));
            }
            const int64_t least = 2 * g + 1;
            to.sums[(least / kRows * H + h) * kRows + least % kRows] = static_cast<float>(_mm512_reduce_add_epi32(sum));
        }
    }
}

template <KVDtype T>
INLINE __m512i codes_as_shorts(const uint8_t* row, int64_t at) {
    if constexpr (T == KVDtype::Int8) return _mm512_cvtepu8_epi16(load256(row + at));
    const __m512i pairs = _mm512_cvtepu8_epi32(load128(row + at / 2));
    return _mm512_and_si512(_mm512_or_si512(pairs, _mm512_slli_epi32(pairs, 12)), _mm512_set1_epi32(0x000f000f));
}

// Scores of H queries with R keys, B times 32 numbers of a group at once.
template <KVDtype T, int H, int R, int B>
INLINE void short_score_tile(const ShortQueries<H>& queries, int64_t dim, const TileRows& keys, float* scores, LinesAhead& ahead) {
    const int64_t part = ahead.ask(R, dim / (B * kCodes));
    Floats sums[R * H];
    UNROLL for (Floats& x : sums) x = zeros();
    for (int64_t at = 0; at < keys.row_params; at += kRows) {
        const auto mask = static_cast<__mmask16>(keys.row_params - at < kRows ? (1 << (keys.row_params - at)) - 1 : 0xffff);
        UNROLL for (int r = 0; r < R; ++r) {
            const Floats params{_mm512_maskz_loadu_ps(mask, keys.params + r * keys.row_params + at)};
            UNROLL for (int h = 0; h < H; ++h) {
                const Floats x = load_floats(queries.sums + at * H + h * kRows);
                sums[r * H + h] = fma(params, x, sums[r * H + h]);
            }
        }
    }
    const int16_t* q = queries.numbers;
    const float* params = keys.params;
    for (int64_t at = 0; at < dim; params += 2)
        for (const int64_t end = at + keys.group; at < end; at += B * kCodes, q += B * H * kCodes) {
            if (part) ahead.ask_bytes(part);
            __m512i k[R][B];
            Floats scale[R];
            UNROLL for (int r = 0; r < R; ++r) {
                UNROLL for (int b = 0; b < B; ++b) k[r][b] = codes_as_shorts<T>(keys.data + r * keys.row_bytes, at + b * kCodes);
                scale[r] = broadcast(params + r * keys.row_params);
            }
            UNROLL for (int h = 0; h < H; ++h) {
                __m512i x[B];
                UNROLL for (int b = 0; b < B; ++b) x[b] = _mm512_loadu_si512(q + (b * H + h) * kCodes);
                UNROLL for (int r = 0; r < R; ++r) {
                    __m512i products = _mm512_madd_epi16(k[r][0], x[0]);
                    UNROLL for (int b = 1; b < B; ++b) products = add_pair_products(products, k[r][b], x[b]);
                    sums[r * H + h] = fma(to_floats(Ints{products}), scale[r], sums[r * H + h]);
                }
            }
        }
    alignas(64) float made[kRows] = {};
    sum_each(sums, made);
    const Floats scaled = mul(load_floats(made), load_floats(queries.scales));
    if constexpr (R * H == kRows) store(scores, scaled);
    else _mm512_mask_storeu_ps(scores, (1 << R * H) - 1, scaled.v);
}

template <KVDtype T, int H, int B>
void short_scores(const ShortQueries<H>& queries, int64_t dim, const TileRows& keys, int64_t count, float* scores, LinesAhead& ahead) {
    constexpr int R = kRows / H;
    int64_t t = 0;
    for (; t + R <= count; t += R) short_score_tile<T, H, R, B>(queries, dim, keys.from(t), scores + t * H, ahead);
    for (; t < count; ++t) short_score_tile<T, H, 1, B>(queries, dim, keys.from(t), scores + t * H, ahead);
}

// What a tile's codes of values are multiplied with, of H heads.
template <int H>
struct ShortShares {
    static constexpr int kTokens = kRows / H;  // of a register
    int64_t pairs;         // of tokens, in whole registers
    int32_t* numbers;      // [group][pair][head]: of both tokens, times their scales
    float *scales, *sums;  // [group][16]: of these; the sums of shares times leasts
    ShortShares(float* room, int64_t count, int64_t groups)
        : pairs((count + kTokens - 1) / kTokens * kTokens / 2), numbers(reinterpret_cast<int32_t*>(room)), scales(room + groups * pairs * H),
          sums(scales + groups * kRows) {}
};

// One of each of some rows, for all lanes of its token.
template <int H>
INLINE __m512 broadcast_each(const float* from, int64_t row) {
    __m512 x = _mm512_set1_ps(from[0]);
    UNROLL for (int t = 1; t < kRows / H; ++t) x = _mm512_mask_broadcastss_ps(x, static_cast<__mmask16>(0xffff << t * H), _mm_load_ss(from + t * row));
    return x;
}
// Lanes of the same head of other tokens: `Step` tokens away.
template <int H, int Step>
INLINE __m512i other_tokens(__m512i x) {
    constexpr int lanes = Step * H / 4;
    return _mm512_shuffle_i32x4(x, x, lanes == 2 ? 0x4e : 0xb1);
}

template <int H>
void round_shares(const float* shares, const TileRows& values, int64_t groups, int64_t count, const ShortShares<H>& to) {
    constexpr int tokens = kRows / H;
    alignas(64) static constexpr auto in_pairs = [] {
        std::array<uint16_t, 32> from{};
        for (int i = 0; i < kRows; ++i) from[i] = static_cast<uint16_t>(2 * ((i / (2 * H) * 2 + i % 2) * H + i / 2 % H));
        return from;
    }();
    const __m512i order = _mm512_load_si512(in_pairs.data());
    Floats scaled[kKVTile * H / kRows];
    for (int64_t g = 0; g < groups; ++g) {
        const float* params = values.params + 2 * g;
        __m512i top = _mm512_setzero_si512();
        __m512 sum = _mm512_setzero_ps();
        for (int64_t t = 0; t < count; t += tokens, params += tokens * values.row_params) {
            const auto there = static_cast<__mmask16>(count - t < tokens ? (1 << (count - t) * H) - 1 : 0xffff);
            const __m512 p = _mm512_maskz_loadu_ps(there, shares + t * H);
            const __m512 x = _mm512_maskz_mul_ps(there, p, broadcast_each<H>(params, values.row_params));
            scaled[t / tokens] = {x};
            top = _mm512_max_epu32(top, _mm512_castps_si512(x));  // bits of floats are in order, NaN last
            sum = _mm512_mask3_fmadd_ps(p, broadcast_each<H>(params + 1, values.row_params), sum, there);
        }
        top = _mm512_max_epu32(top, other_tokens<H, tokens / 2>(top));
        sum = _mm512_add_ps(sum, _mm512_castsi512_ps(other_tokens<H, tokens / 2>(_mm512_castps_si512(sum))));
        if constexpr (tokens == 4) {
            top = _mm512_max_epu32(top, other_tokens<H, 1>(top));
            sum = _mm512_add_ps(sum, _mm512_castsi512_ps(other_tokens<H, 1>(_mm512_castps_si512(sum))));
        }
        __m512 scale, inverse;
        short_scales(_mm512_and_si512(top, _mm512_set1_epi32(0x7fffffff)), scale, inverse);
        _mm512_storeu_ps(to.scales + g * kRows, scale);
        _mm512_storeu_ps(to.sums + g * kRows, sum);
        int32_t* numbers = to.numbers + g * to.pairs * H;
        for (int64_t t = 0; t < count; t += tokens, numbers += tokens / 2 * H) {
            const __m512i x = _mm512_cvtps_epi32(_mm512_mul_ps(scaled[t / tokens].v, inverse));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(numbers), _mm512_castsi512_si256(_mm512_permutexvar_epi16(order, x)));
        }
    }
}

// Of two rows, each of one beside that of the other.
INLINE __m512i byte_pairs(const uint8_t* x, const uint8_t* y) {
    return _mm512_or_si512(_mm512_cvtepu8_epi32(load128(x)), _mm512_slli_epi32(_mm512_cvtepu8_epi32(load128(y)), 16));
}

// Adds to W registers of H sums, from the `first` on, what `count` values give.
template <KVDtype T, int H, int W>
void add_short_values(const ShortShares<H>& shares, int64_t first, const TileRows& values, int64_t count, float* sums, LinesAhead& ahead) {
    const int64_t at = first * kRows, group = at / values.group;
    __m512i acc[W][H];
    UNROLL for (int w = 0; w < W; ++w)
        UNROLL for (int h = 0; h < H; ++h) acc[w][h] = _mm512_setzero_si512();
    const uint8_t* row = values.data + (T == KVDtype::Int8 ? at : at / 2);
    const int32_t* numbers = shares.numbers + group * shares.pairs * H;
    for (int64_t t = 0; t < count; t += 2, row += 2 * values.row_bytes, numbers += H) {
        ahead.ask(2);
        const uint8_t* next = t + 1 < count ? row + values.row_bytes : row;
        __m512i v[W];
        UNROLL for (int w = 0; w < W; w += 2) {
            if constexpr (T == KVDtype::Int8) {
                v[w] = byte_pairs(row + w * kRows, next + w * kRows);
                v[w + 1] = byte_pairs(row + (w + 1) * kRows, next + (w + 1) * kRows);
            } else {
                const __m512i both = byte_pairs(row + w * kRows / 2, next + w * kRows / 2);
                v[w] = _mm512_and_si512(both, _mm512_set1_epi16(15));
                v[w + 1] = _mm512_and_si512(_mm512_srli_epi16(both, 4), _mm512_set1_epi16(15));
            }
        }
        UNROLL for (int h = 0; h < H; ++h) {
            const __m512i p = _mm512_set1_epi32(numbers[h]);
            UNROLL for (int w = 0; w < W; ++w) acc[w][h] = add_pair_products(acc[w][h], v[w], p);
        }
    }
    sums += first * H * kRows;
    UNROLL for (int h = 0; h < H; ++h) {
        const Floats scale = broadcast(shares.scales + group * kRows + h), sum = broadcast(shares.sums + group * kRows + h);
        UNROLL for (int w = 0; w < W; ++w) {
            float* to = sums + (w * H + h) * kRows;
            store(to, add(fma(to_floats(Ints{acc[w][h]}), scale, sum), load_floats(to)));
        }
    }
}

template <KVDtype T>
struct ShortProducts {
    static constexpr KVDtype type = T;
    using Floating = FloatProducts<T>;
    static constexpr bool takes(int heads) { return heads >= 4; }

    template <int H>
    static void begin(const float* q, const Registers& head, int64_t group, float scale, float* queries) {
        if constexpr (takes(H)) round_queries<H>(q, head.dim, group, scale, ShortQueries<H>(queries, head.dim, 2 * (head.dim / group)));
        else Floating::template begin<H>(q, head, group, scale, queries);
    }
    template <int H>
    static void scores(float* queries, const Registers& head, const TileRows& keys, int64_t count, float scale, float* scores, LinesAhead& ahead) {
        if constexpr (takes(H)) {
            const ShortQueries<H> q(queries, head.dim, keys.row_params);
            if (keys.group % (2 * kCodes) == 0) short_scores<T, H, 2>(q, head.dim, keys, count, scores, ahead);
            else short_scores<T, H, 1>(q, head.dim, keys, count, scores, ahead);
        } else {
            Floating::template scores<H>(queries, head, keys, count, scale, scores, ahead);
        }
    }
    template <int H>
    static void add_values(const float* shares, const Registers& head, const TileRows& values, int64_t count, float* room, float* sums, LinesAhead& ahead) {
        if constexpr (takes(H)) {
            constexpr int W = abreast(H);
            const int64_t groups = head.dim / values.group;
            const ShortShares<H> rounded(room, count, groups);
            round_shares<H>(shares, values, groups, count, rounded);
            int64_t i = 0;
            if (values.group % (W * kRows) == 0)
                for (; i < head.count(); i += W) add_short_values<T, H, W>(rounded, i, values, count, sums, ahead);
            for (; i < head.count(); i += 2) add_short_values<T, H, 2>(rounded, i, values, count, sums, ahead);
        } else {
            Floating::template add_values<H>(shares, head, values, count, room, sums, ahead);
        }
    }
};

void decode_attention_to_codes(const DecodeAttention& a, float* scratch) {
    const bool fits = fits_registers(a.k) && a.dim >= 2 * kCodes;  // with less there is no room for what belongs to queries
    if (fits && a.k.type == KVDtype::Int8) return decode_attention_by<ShortProducts<KVDtype::Int8>>(a, scratch);
    if (fits && a.k.type == KVDtype::Int4) return decode_attention_by<ShortProducts<KVDtype::Int4>>(a, scratch);
    decode_attention(a, scratch);
}
