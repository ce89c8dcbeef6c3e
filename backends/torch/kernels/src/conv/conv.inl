// Direct convolution kernels: sixteen outputs per vector, a few positions at a time. Included by each tier after fused_ops.inl.
// Each tier defines kPositions and kPanels: as many sums as its registers hold besides the weights.

// sin(x) squared to within a few units in the last place. Its sign does not matter, so x may be folded by half turns.
INLINE float sine_squared(float x) {
    const float turns = (x * 0.318309886f + 12582912.0f) - 12582912.0f;  // rounded
    float r = x - turns * 3.140625f;
    r = r - turns * 9.67502593994140625e-4f;
    r = r - turns * 1.509957990978376e-7f;
    const float r2 = r * r;
    float p = 2.6083159809786594e-06f;
    p = p * r2 - 1.981069071916863e-4f;
    p = p * r2 + 8.333078585565091e-3f;
    p = p * r2 - 1.6666659712791443e-1f;
    const float s = r + r * (r2 * p);
    return s * s;
}

void snake_row(const float* x, const float* rate, const float* size, int64_t n, float* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] + sine_squared(x[i] * rate[i]) * size[i];
}

// Sums in f32 of a few rows, those of all in f64. Channels in groups whose sums the registers hold.
void add_moments(const float* x, int64_t rows, int64_t n, const float* pivot, double* sums, double* squares) {
    constexpr int64_t kRun = 64;  // rows that are summed in f32
    constexpr int V = 2;          // vectors of channels at once
    for (int64_t begin = 0; begin < rows; begin += kRun) {
        const int64_t end = begin + kRun < rows ? begin + kRun : rows;
        int64_t c = 0;
        for (; c + V * kRows <= n; c += V * kRows) {
            Floats sum[V], square[V], from[V];
            UNROLL for (int v = 0; v < V; ++v) {
                sum[v] = square[v] = zeros();
                from[v] = load_floats(pivot + c + v * kRows);
            }
            for (int64_t r = begin; r < end; ++r) {
                UNROLL for (int v = 0; v < V; ++v) {
                    const Floats d = sub(load_floats(x + r * n + c + v * kRows), from[v]);
                    sum[v] = add(sum[v], d);
                    square[v] = fma(d, d, square[v]);
                }
            }
            float lanes[2 * V * kRows];
            UNROLL for (int v = 0; v < V; ++v) {
                store(lanes + v * kRows, sum[v]);
                store(lanes + (V + v) * kRows, square[v]);
            }
            for (int64_t i = 0; i < V * kRows; ++i) {
                sums[c + i] += lanes[i];
                squares[c + i] += lanes[V * kRows + i];
            }
        }
        for (; c < n; ++c) {
            for (int64_t r = begin; r < end; ++r) {
                const double d = static_cast<double>(x[r * n + c]) - static_cast<double>(pivot[c]);
                sums[c] += d;
                squares[c] += d * d;
            }
        }
    }
}

void depthwise_row(const float* const* rows, int64_t taps, const float* w, const float* b, int64_t n, float* out) {
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows) {
        Floats sum = load_floats(b + i);
        for (int64_t tap = 0; tap < taps; ++tap) sum = fma(load_floats(rows[tap] + i), load_floats(w + tap * n + i), sum);
        store(out + i, sum);
    }
    for (; i < n; ++i) {
        float sum = b[i];
        for (int64_t tap = 0; tap < taps; ++tap) sum += rows[tap][i] * w[tap * n + i];
        out[i] = sum;
    }
}

// Of sixteen outputs the first `columns` exist.
INLINE void write_row(Floats sum, const float* more, float* y, int64_t columns) {
    if (columns >= kRows) {
        store(y, more ? add(sum, load_floats(more)) : sum);
        return;
    }
    float row[kRows];
    store(row, sum);
    for (int64_t c = 0; c < columns; ++c) y[c] = more ? row[c] + more[c] : row[c];
}

template <int N, int V>
void conv_tile(const ConvTile& c) {
    Floats acc[N][V];
    UNROLL for (int n = 0; n < N; ++n)
        UNROLL for (int v = 0; v < V; ++v) acc[n][v] = load_floats(c.bias + v * kRows);
    const float *w = c.w, *w2 = c.w + (V - 1) * c.panel;
    const uint8_t* prefetch = c.prefetch;
    for (int64_t tap = 0; tap < c.taps; ++tap) {
        const float* x[N];
        UNROLL for (int n = 0; n < N; ++n) x[n] = c.x + tap * c.tap + n * c.position;
        for (int64_t i = 0; i < c.inputs; ++i, w += kRows, w2 += kRows) {
            Floats of[V];
            of[0] = load_floats(w);
            PREFETCH_FAR(prefetch);
            if constexpr (V == 2) {
                of[1] = load_floats(w2);
                PREFETCH_FAR(prefetch + c.panel * 4);
            }
            prefetch += c.prefetch_bytes;
            UNROLL for (int n = 0; n < N; ++n) {
                const Floats given = broadcast(x[n] + i);
                UNROLL for (int v = 0; v < V; ++v) acc[n][v] = fma(given, of[v], acc[n][v]);
            }
        }
    }
    UNROLL for (int n = 0; n < N; ++n) {
        UNROLL for (int v = 0; v < V; ++v) {
            const int64_t at = n * c.row + v * kRows;
            write_row(acc[n][v], c.add ? c.add + at : nullptr, c.y + at, c.columns - v * kRows);
        }
    }
}
