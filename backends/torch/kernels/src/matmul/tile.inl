// Matrix product kernels, written once over a tier's vector types. Included by each tier inside its anonymous namespace, after it has
// defined Ints and Floats (16 lanes, one per row), Bytes (64, four per row) and the functions on them.

#include "formats/block_reader.inl"

// `P` panels side by side times `N` tokens. Tiles of one product, so all is alike but for codes, scales and results.
template <Code C, int Halves, bool Minima, int N, bool Stored, int P>
INLINE void quantized_panels(const Tile (&in)[P]) {
    using R = Reader<C>;
    constexpr int quads = 8 / Halves;
    // Quad by quad where a product sums into whole integers and registers are many: then a token's activations are loaded once
    // for all panels, and as many sums go on side by side as there are tokens and panels.
    constexpr int most = kTile >= 8 ? 1 : R::run;
    constexpr int run = most < quads ? most : quads;
    // Quads take lines of both of their planes in turns, which hardware prefetchers do not follow: so all lines of a block are loaded first, in
    // order, where there are registers for them.
    constexpr bool in_order = kTile >= 8 && N * P <= 4 && (C == Code::U6 || C == Code::U5);
    // Where `dot` takes whole bytes, high nibbles stay where they are: one shift of their sum is less than a shift of each quad. Not for several
    // tokens, which have as many sums.
    constexpr bool lifted = kSignedBias != 0 && C == Code::U4 && N == 1;
    Floats acc[P][N];
    Scales<Halves, Minima, Stored, C == Code::L4> scales[P];
    const uint8_t* codes[P];
    for (int p = 0; p < P; ++p) {
        scales[p].begin(in[p].scales, in[p].panel, in[p].layout);
        codes[p] = in[p].codes;
        for (int t = 0; t < N; ++t) acc[p][t] = zeros();
    }
    const uint8_t* ask[P];  // what is prefetched next, of panels
    for (int p = 0; p < P; ++p) ask[p] = in[p].codes + in[p].ahead;
    const int8_t* a = in[0].act.codes;
    const float* notes = in[0].act.notes;
    constexpr int words = notes_per_block(Halves);
    [[maybe_unused]] constexpr int32_t nothing = 0;
    for (int64_t b = 0; b < in[0].blocks; ++b) {
        if (in[0].ahead) {
            for (int p = 0; p < P; ++p) {
                if (in[0].prefetch == Prefetch::Panels) {
                    for (int64_t at = 0; at <= code_bytes(C); at += 64) PREFETCH(ask[p] + at);  // one line more, for scales
                    ask[p] += in[0].layout->bytes_per_block;
                } else if (N <= 4 && in[0].prefetch == Prefetch::FarCodes) {
                    for (int64_t at = 0; at < code_bytes(C); at += 128) PREFETCH_FAR(codes[p] + in[0].ahead + at);
                } else {
                    for (int64_t at = 0; at < code_bytes(C); at += 64) PREFETCH(codes[p] + in[0].ahead + at);
                }
            }
        }
        if constexpr (in_order)
            for (int p = 0; p < P; ++p)
                unrolled<code_bytes(C) / 64>([&](auto line) INLINE_LAMBDA { loaded(load(codes[p] + 64 * decltype(line)::value)); });
        unrolled<Halves>([&](auto half) INLINE_LAMBDA {
            constexpr int h = decltype(half)::value;
            Ints total[P][N];
            const int32_t* start = reinterpret_cast<const int32_t*>(notes) + 1 + h;
            for (int t = 0; t < N; ++t)
                for (int p = 0; p < P; ++p) total[p][t] = broadcast_int(start + words * t);
            if constexpr (lifted) {
                Ints high[P];
                for (int p = 0; p < P; ++p) high[p] = broadcast_int(&nothing);
                unrolled<4>([&](auto quad) INLINE_LAMBDA {
                    constexpr int g = decltype(quad)::value;
                    for (int p = 0; p < P; ++p) {
                        const Bytes both = load(codes[p] + 64 * g);
                        const Bytes w[1] = {shift_and_mask<0, 15>(both)}, w16[1] = {shift_and_mask<0, 0xf0>(both)};
                        total[p][0] = dot<false, 1>(total[p][0], w, a + 4 * g);
                        high[p] = dot<false, 1>(high[p], w16, a + 4 * (g + 4));
                    }
                });
                for (int p = 0; p < P; ++p) total[p][0] = add(total[p][0], sixteenth(high[p]));
            } else unrolled<quads / run>([&](auto turn) INLINE_LAMBDA {
                constexpr int first = h * quads + decltype(turn)::value * run;
                if constexpr (run == 1) {
                    Bytes w[P][1];
                    for (int p = 0; p < P; ++p) w[p][0] = R::template get<first>(in[p], codes[p]);
                    for (int t = 0; t < N; ++t)
                        for (int p = 0; p < P; ++p)
                            total[p][t] = dot<R::is_signed, 1>(total[p][t], w[p], a + 32 * t + 4 * first);
                } else {
                    for (int p = 0; p < P; ++p) {
                        Bytes w[run];
                        unrolled<run>([&](auto r) INLINE_LAMBDA {
                            w[decltype(r)::value] = R::template get<first + decltype(r)::value>(in[p], codes[p]);
                        });
                        for (int t = 0; t < N; ++t)
                            total[p][t] = dot<R::is_signed, run>(total[p][t], w, a + 32 * t + 4 * first);
                    }
                }
            });
            for (int p = 0; p < P; ++p) {
                Floats ws, wm;
                scales[p].take(b, h, ws, wm);
                for (int t = 0; t < N; ++t)
                    acc[p][t] = fma(to_floats(total[p][t]), mul(ws, broadcast(notes + words * t)), acc[p][t]);
                if constexpr (Minima)
                    for (int t = 0; t < N; ++t)
                        acc[p][t] = fma(wm, broadcast(notes + words * t + 1 + Halves + h), acc[p][t]);
            }
        });
        for (int p = 0; p < P; ++p) codes[p] += code_bytes(C);
        a += 32 * N;
        notes += words * N;
    }
    for (int p = 0; p < P; ++p)
        for (int t = 0; t < N; ++t) store(in[p].out + kRows * t, acc[p][t]);
}

template <Code C, int Halves, bool Minima, int N, bool Stored>
void quantized_tile(const Tile& in) {
    quantized_panels<C, Halves, Minima, N, Stored, 1>({in});
}

template <Code C, int Halves, bool Minima, int N>
void stored_pair(const Tile& one, const Tile& other) {
    quantized_panels<C, Halves, Minima, N, true, 2>({one, other});
}

// Several sums at once, so that one addition need not wait for the last.
template <Code C, int N>
void dense_tile(const Tile& in) {
    constexpr int chains = N >= 4 ? 1 : 4 / N;
    Floats acc[N][chains];
    UNROLL for (int t = 0; t < N; ++t)
        UNROLL for (int c = 0; c < chains; ++c) acc[t][c] = zeros();
    const uint8_t* codes = in.codes;
    const float* x = in.dense;
    constexpr int64_t bytes_of_quad = code_bytes(C) / (kBlock / kQuad);
    for (int64_t quad = 0; quad < in.blocks * (kBlock / kQuad); ++quad) {
        Floats w[kQuad];
        if constexpr (C == Code::BF16) {  // pairs of columns: [2][16 rows][2]
            split_bf16(codes, w[0], w[1]);
            split_bf16(codes + 64, w[2], w[3]);
        } else {
            for (int i = 0; i < kQuad; ++i) {
                if constexpr (C == Code::F16) w[i] = load_f16(codes + 32 * i);
                else w[i] = load_floats(reinterpret_cast<const float*>(codes) + kRows * i);
            }
        }
        UNROLL for (int i = 0; i < kQuad; ++i)
            UNROLL for (int t = 0; t < N; ++t) acc[t][i % chains] = fma(w[i], broadcast(x + i * N + t), acc[t][i % chains]);
        codes += bytes_of_quad;
        x += kQuad * N;
    }
    UNROLL for (int t = 0; t < N; ++t) {
        UNROLL for (int c = 1; c < chains; ++c) acc[t][0] = add(acc[t][0], acc[t][c]);
        store(in.out + kRows * t, acc[t][0]);
    }
}

// Floats of eight bits, whose columns share scales in groups.
template <int N>
void f8_tile(const Tile& in) {
    constexpr int chains = N >= 4 ? 1 : 4 / N;
    Floats acc[N][chains], scale = zeros();
    for (int t = 0; t < N; ++t)
        for (int c = 0; c < chains; ++c) acc[t][c] = zeros();
    const uint8_t *codes = in.codes, *scales = in.panel;
    const float* x = in.dense;
    for (int64_t b = 0; b < in.blocks; ++b) {
        if (b % in.layout->blocks_per_scale == 0) {
            scale = mul(load_floats(reinterpret_cast<const float*>(scales)), broadcast(&in.layout->unit));
            scales += 4 * kRows;
        }
        if (in.ahead)
            for (int64_t at = 0; at < code_bytes(Code::F8); at += 64) PREFETCH(codes + in.ahead + at);
        for (int quad = 0; quad < kBlock / kQuad; ++quad, codes += kQuad * kRows, x += kQuad * N) {
            Floats w[kQuad];
            UNROLL for (int i = 0; i < kQuad; ++i) w[i] = mul(scale, load_f8(codes + kRows * i));
            UNROLL for (int i = 0; i < kQuad; ++i)
                UNROLL for (int t = 0; t < N; ++t) acc[t][i % chains] = fma(w[i], broadcast(x + i * N + t), acc[t][i % chains]);
        }
    }
    UNROLL for (int t = 0; t < N; ++t) {
        UNROLL for (int c = 1; c < chains; ++c) acc[t][0] = add(acc[t][0], acc[t][c]);
        store(in.out + kRows * t, acc[t][0]);
    }
}

template <ScaleType T>
INLINE Floats load_as(const uint8_t* from, int64_t at) {
    if constexpr (T == ScaleType::F32) return load_floats(reinterpret_cast<const float*>(from) + at);
    else if constexpr (T == ScaleType::F16) return load_f16(from + 2 * at);
    else return load_bf16(from + 2 * at);
}

// Rows one after the other, so that memory is read in order; two at a time where several tokens share what is loaded.
template <ScaleType T, int N, int R>
INLINE void some_rows(const Rows& in, int64_t r, const float (&last)[N][kRows]) {
    constexpr int chains = N * R >= 4 ? 1 : 4 / (N * R);
    constexpr int64_t size = T == ScaleType::F32 ? 4 : 2;
    const int64_t whole = in.columns / kRows * kRows;
    const uint8_t* w[R];
    const float* x[N];
    for (int t = 0; t < N; ++t) x[t] = in.x + t * in.x_token;
    Floats acc[R][N][chains];
    for (int j = 0; j < R; ++j) {
        w[j] = in.data + (r + j) * in.row_bytes;
        for (int t = 0; t < N; ++t)
            for (int i = 0; i < chains; ++i) acc[j][t][i] = zeros();
    }
    int64_t c = 0;
    for (; c + chains * kRows <= whole; c += chains * kRows) {
        if (in.ahead)
            for (int64_t at = 0; at < chains * kRows * size; at += 64) PREFETCH(w[0] + c * size + in.ahead + at);
        for (int i = 0; i < chains; ++i) {
            Floats ws[R];
            for (int j = 0; j < R; ++j) ws[j] = load_as<T>(w[j], c + i * kRows);
            for (int t = 0; t < N; ++t) {
                Floats xs = load_floats(x[t] + c + i * kRows);
                for (int j = 0; j < R; ++j) acc[j][t][i] = fma(ws[j], xs, acc[j][t][i]);
            }
        }
    }
    for (int j = 0; j < R; ++j) {
        alignas(64) uint8_t tail[kRows * 4] = {};
        std::memcpy(tail, w[j] + whole * size, static_cast<size_t>((in.columns - whole) * size));
        const Floats rest = load_as<T>(tail, 0);
        for (int t = 0; t < N; ++t) {
            for (int64_t d = c; d < whole; d += kRows) acc[j][t][0] = fma(load_as<T>(w[j], d), load_floats(x[t] + d), acc[j][t][0]);
            if (whole < in.columns) acc[j][t][0] = fma(rest, load_floats(last[t]), acc[j][t][0]);
            for (int i = 1; i < chains; ++i) acc[j][t][0] = add(acc[j][t][0], acc[j][t][i]);
            in.out[t * kRows + r + j] = sum_lanes(acc[j][t][0]);
        }
    }
}

template <ScaleType T, int N>
void rows_tile(const Rows& in) {
    float last[N][kRows] = {};
    for (int t = 0; t < N; ++t)
        for (int64_t c = in.columns / kRows * kRows; c < in.columns; ++c) last[t][c % kRows] = in.x[t * in.x_token + c];
    int64_t r = 0;
    if constexpr (N >= 4)
        for (; !in.streamed && r + 2 <= in.rows; r += 2) some_rows<T, N, 2>(in, r, last);
    for (; r < in.rows; ++r) some_rows<T, N, 1>(in, r, last);
}

template <ScaleType T>
void rows_to_panel(const Rows& in, int64_t padded, float* to) {
    constexpr int64_t size = T == ScaleType::F32 ? 4 : 2;
    for (int64_t c = 0; c < padded; c += kRows, to += kRows * kRows) {
        const int64_t left = in.columns - c;
        float square[kRows][kRows];
        for (int64_t r = 0; r < kRows; ++r) {
            alignas(64) uint8_t some[kRows * 4] = {};
            const uint8_t* from = in.data + r * in.row_bytes + c * size;
            if (r < in.rows && left < kRows) std::memcpy(some, from, static_cast<size_t>((left > 0 ? left : 0) * size));
            store(square[r], load_as<T>(r < in.rows && left >= kRows ? from : some, 0));
        }
        for (int i = 0; i < kRows; ++i)
            for (int r = 0; r < kRows; ++r) to[i * kRows + r] = square[r][i];
    }
}

inline Floats load_scale(ScaleType type, const uint8_t* from) {
    if (type == ScaleType::F32) return load_floats(reinterpret_cast<const float*>(from));
    if (type == ScaleType::E8M0) return load_e8m0(from);
    return type == ScaleType::F16 ? load_f16(from) : load_bf16(from);
}

void expand_scales(const Format& f, const Panel& p, const uint8_t* panel, float* scales) {
    const int64_t unit = kRows * scale_bytes(f.scale);
    const uint8_t* block_scales = panel + p.block_scales;
    if (f.minima) {  // two regions are read in turns below; touched in order first, they do not throw the prefetcher off
        for (int64_t at = 0; at < p.codes; at += 64) PREFETCH(panel + at);
    }
    for (int64_t group = 0, b = 0; group < p.groups; ++group) {
        Floats d = mul(load_scale(f.scale, panel + group * unit), broadcast(&p.unit));
        Floats m = f.minima ? load_scale(f.scale, panel + p.minima + group * unit) : zeros();
        int64_t end = b + f.blocks_per_scale < p.blocks ? b + f.blocks_per_scale : p.blocks;
        for (; b < end; ++b) {
            for (int h = 0; h < f.halves; ++h, scales += kRows, block_scales += kRows) {
                Floats scale = d, minimum = m;
                if (f.block_scales != BlockScales::None) {
                    Floats step, least = zeros();
                    if (f.block_scales == BlockScales::FourBits) load_four_bits(block_scales, step, least);
                    else if (f.block_scales == BlockScales::SixBits) load_six_bits(block_scales, panel + p.block_minima, b, step, least);
                    else step = load_block_scales(f.block_scales, block_scales);
                    scale = mul(d, step);
                    minimum = sub(zeros(), mul(m, least));
                }
                store(scales, scale);
                if (f.minima) store(scales += kRows, minimum);
            }
        }
    }
}

// A row that is not finite gets NaN for its scale, so that the result says so; one too small for its reciprocal counts as zero.
void quantize_rows(const float* x, int64_t stride, const int64_t* rows, int n, int64_t columns, int halves, int offset,
                   const Activations& tile) {
    static const float nothing[kBlock] = {};
    const int64_t blocks = (columns + kBlock - 1) / kBlock;
    for (int t = 0; t < n; ++t) {
        const float* row = x + (rows ? rows[t] : t) * stride;
        for (int64_t b = 0; b < blocks; ++b) {
            float padded[kBlock];
            const float* v = row + b * kBlock;
            if (columns - b * kBlock < kBlock) {
                for (int i = 0; i < kBlock; ++i) padded[i] = b * kBlock + i < columns ? v[i] : 0.0f;
                v = padded;
            }
            const int32_t top = largest(larger(magnitudes(v), magnitudes(v + kRows)));  // bits of floats without a sign are in order
            const float peak = as_float(static_cast<uint32_t>(top));
            float step = peak / 127.0f, inverse = peak > 1e-36f ? 127.0f / peak : 0.0f;
            if (top >= 0x7f800000) {
                step = as_float(0x7fc00000u);
                v = nothing;
            }
            int8_t* codes = tile.codes + (b * n + t) * kBlock;
            const Ints low = nearest(mul(load_floats(v), broadcast(&inverse))), high = nearest(mul(load_floats(v + kRows), broadcast(&inverse)));
            store_bytes(codes, low);
            store_bytes(codes + kRows, high);
            float* notes = tile.notes + (b * n + t) * notes_per_block(halves);
            notes[0] = step;
            int32_t total[2] = {sum_lanes(low), sum_lanes(high)};
            if (halves == 1) total[0] += total[1];
            for (int h = 0; h < halves; ++h) {
                reinterpret_cast<int32_t*>(notes)[1 + h] = -offset * total[h];
                notes[1 + halves + h] = step * static_cast<float>(total[h]);
            }
        }
    }
}
