// A product: what its activations become, and how many tokens meet a panel at once. Included by matmul.cpp.

constexpr int kFewestForUnit = 4;  // tokens of bf16 weights; below, memory is what takes the time
constexpr int kMostInTwelve = 4;  // tokens
constexpr int kFewestToExpand = 32;  // tokens; below, making a panel of floats costs more than it saves

// Tokens that meet one expert: `count` of them, from `first` in the order of the job.
struct Group { int64_t expert, first, count; };

struct Job {
    const GrusMatrix& m;
    const GrusMatrix* up;  // of a gated job: what the gate `m` is for
    bool gated;
    const Tier& tier;
    Panel panel;
    const float* x;
    int64_t x_stride;
    const int64_t* x_rows;  // null: token t reads row t
    float* y;
    int64_t y_stride;
    const int64_t* y_rows;  // null: token t writes row t
    int threads;
    // Taken once, since another thread may set them meanwhile.
    const GrusTwelve *twelve, *up_twelve;
    bool expanded;  // rows of a file for so many tokens that each panel is first made one of floats

    Activations act;
    float* dense;

    const GrusTwelve* twelve_of(const GrusMatrix& mine) const { return &mine == up ? up_twelve : twelve; }

    // Rows of a file meet activations that are not packed either.
    bool as_given() const { return m.row_bytes != 0 && !expanded; }
    bool rounded() const { return as_given() && m.format.code == Code::BF16 && tier.bf16; }
    // Whether a panel's codes are what the matrix unit takes.
    static bool bytes_as_stored(const Format& f) { return f.code == Code::S8 && f.offset == 0 && !f.minima; }
    // Whether the matrix unit takes tiles of `n` tokens; if so, bf16 activations are laid out for it.
    bool by_unit(int64_t n) const {
        if (!tier.unit || (as_given() ? !rounded() : m.format.dense())) return false;
        if (rounded()) return n >= (twelve || up_twelve ? kMostInTwelve + 1 : kFewestForUnit);
        return n == kUnitTokens || (bytes_as_stored(m.format) && (n == 4 || n == 8));  // unpacking costs more than few tokens save
    }
    // Whether a panel that meets so many tokens is read with its scales as they are stored: where it is used only once.
    bool as_stored(int64_t tokens) const { return !m.row_bytes && tokens <= tier.tile && is_read_as_stored(m.format); }
    // Tokens of the next tile, of `left`.
    int width(int64_t left) const {
        if (rounded() && by_unit(left)) return static_cast<int>(std::min<int64_t>(left, kUnitMost));
        if (by_unit(kUnitTokens) && left >= kUnitTokens) return kUnitTokens;
        int width = tier.tile;
        while (width > left) width /= 2;
        return width;
    }
    int widest() const { return rounded() && tier.unit ? kUnitMost : by_unit(kUnitTokens) ? kUnitTokens : tier.tile; }
    // From one token to the next. Not a power of two, or the same columns of all tokens would compete for one place in a cache.
    int64_t spread() const { return (twelve || up_twelve ? grus::rounded(m.columns, kTwelveColumns) : padded()) + (rounded() ? 32 : 16); }
    // Whether rows of twelve bits are multiplied as they are: more tokens share what is made of them.
    bool in_twelve(int64_t tokens) const { return rounded() && tokens <= kMostInTwelve && tier.bf16->twelve[0]; }
    uint16_t* bf16_at(int64_t token) const { return reinterpret_cast<uint16_t*>(act.codes) + token * spread(); }
    float* floats_at(int64_t token) const { return dense + token * spread(); }
    int64_t units() const { return gated && !up ? panels_of(m) / 2 : panels_of(m); }
    int64_t padded() const { return panel.blocks * kBlock; }
    int halves() const { return m.format.halves; }

    // Activation memory for `tokens` tokens.
    int64_t bytes(int64_t tokens) const {
        if (rounded()) return grus::rounded(tokens, kUnitTokens) * spread() * 2;
        if (as_given()) return tokens * spread() * 4;
        if (m.format.dense()) return tokens * padded() * 4;
        return tokens * (padded() + panel.blocks * 4 * notes_per_block(halves()));
    }

    void place(uint8_t* memory, int64_t tokens) {
        dense = reinterpret_cast<float*>(memory);
        act.codes = reinterpret_cast<int8_t*>(memory);
        act.notes = reinterpret_cast<float*>(memory + tokens * padded());
    }

    Activations act_at(int64_t token) const {
        return {act.codes + token * padded(), act.notes + token * panel.blocks * notes_per_block(halves())};
    }
};

int of_dense(const Format& f) { return static_cast<int>(f.code) - static_cast<int>(Code::F32); }

int log2_of(int width) { return width == 8 ? 3 : width / 2; }

void prepare_tile(const Job& job, int64_t x_first, int64_t at, int n) {
    const GrusMatrix& m = job.m;
    if (job.as_given()) {
        if (job.by_unit(n)) {
            for (int t = 0; t < n; t += kUnitTokens)
                job.tier.unit->arrange(job.x + (x_first + t) * job.x_stride, job.x_stride, std::min(n - t, kUnitTokens),
                                       m.columns, job.bf16_at(at + t));
            return;
        }
        for (int t = 0; t < n; ++t) {
            const float* from = job.x + (x_first + t) * job.x_stride;
            if (job.rounded()) {
                job.tier.bf16->round(from, m.columns, job.bf16_at(at + t));
                for (int64_t c = job.padded(); c < job.spread() - 32; ++c) job.bf16_at(at + t)[c] = 0;
            } else std::memcpy(job.floats_at(at + t), from, static_cast<size_t>(m.columns) * 4);
        }
        return;
    }
    const float* x = job.x_rows ? job.x : job.x + x_first * job.x_stride;
    const int64_t* rows = job.x_rows ? job.x_rows + x_first : nullptr;
    if (!m.format.dense()) {
        const bool is_signed = m.format.code == Code::S8 || m.format.code == Code::L4;
        job.tier.quantize(x, job.x_stride, rows, n, m.columns, job.halves(),
                          m.format.offset + (is_signed ? job.tier.signed_bias : 0), job.act_at(at));
        return;
    }
    float* to = job.dense + at * job.padded();
    for (int t = 0; t < n; ++t) {
        const float* row = x + (rows ? rows[t] : t) * job.x_stride;
        for (int64_t c = 0; c < m.columns; ++c) to[c * n + t] = row[c];
        for (int64_t c = m.columns; c < job.padded(); ++c) to[c * n + t] = 0.0f;
    }
}
