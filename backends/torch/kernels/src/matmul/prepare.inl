// What a product's activations and panels become before they are multiplied. Included by matmul.cpp.

// -- the job: what the activations become, and how many tokens meet a panel at once

constexpr int kFewestForUnit = 4;  // tokens of bf16 weights; below, memory is what takes the time
constexpr int kMostBf12Tokens = 4;  // tokens
constexpr int kFewestToExpand = 32;  // tokens; below, making a panel of floats costs more than it saves

struct MatmulJob {
    const GrusMatrix& m;
    const GrusMatrix* up;  // of a gated job: what the gate `m` is for
    const Gate* gate;  // of a gated job, else null
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
    const GrusBf12 *bf12, *up_bf12;
    bool expanded;  // rows of a file for so many tokens that each panel is first made one of floats

    Activations act;
    float* dense;
    RowFunction each = nullptr;  // of the results

    const GrusBf12* bf12_of(const GrusMatrix& mine) const { return &mine == up ? up_bf12 : bf12; }

    // Rows of a file meet activations that are not packed either.
    bool row_major() const { return m.row_bytes != 0 && !expanded; }
    bool bf16_activations() const { return row_major() && m.format.code == Code::BF16 && tier.bf16 && !m.f32_inputs; }
    // Whether a panel's codes are what the matrix unit takes.
    static bool bytes_as_stored(const Format& f) { return f.code == Code::S8 && f.offset == 0 && !f.minima; }
    // Whether the matrix unit takes tiles of `n` tokens; if so, bf16 activations are laid out for it.
    bool on_unit(int64_t n) const {
        if (!tier.unit || (row_major() ? !bf16_activations() : m.format.dense())) return false;
        if (bf16_activations()) return n >= (bf12 || up_bf12 ? kMostBf12Tokens + 1 : kFewestForUnit);
        return n == kUnitTokens || (bytes_as_stored(m.format) && (n == 4 || n == 8));  // unpacking costs more than few tokens save
    }
    // Whether a panel that meets so many tokens is read with its scales as they are stored: where it is used only once.
    bool as_stored(int64_t tokens) const { return !m.row_bytes && tokens <= tier.tile && is_read_as_stored(m.format); }
    // How panels that so many tokens share are read.
    PanelStream stream(int64_t tokens) const { return tier.stream(m.format.code, tokens); }
    // Tokens of the next tile, of `left`.
    int width(int64_t left) const {
        if (bf16_activations() && on_unit(left)) return static_cast<int>(std::min<int64_t>(left, kUnitMost));
        if (on_unit(kUnitTokens) && left >= kUnitTokens) return kUnitTokens;
        if (tier.every_width && !m.format.dense() && left < tier.tile) return static_cast<int>(left);
        int width = tier.tile;
        while (width > left) width /= 2;
        return width;
    }
    int widest() const { return bf16_activations() && tier.unit ? kUnitMost : on_unit(kUnitTokens) ? kUnitTokens : tier.tile; }
    // From one token to the next. Not a power of two, or the same columns of all tokens would compete for one place in a cache.
    int64_t token_stride() const { return (bf12 || up_bf12 ? grus::rounded(m.columns, kBf12Columns) : padded()) + (bf16_activations() ? 32 : 16); }
    // Whether 12-bit rows are multiplied as they are: more tokens share what is made of them.
    bool uses_bf12_rows(int64_t tokens) const { return bf16_activations() && tokens <= kMostBf12Tokens && tier.bf16->bf12[0]; }
    uint16_t* bf16_at(int64_t token) const { return reinterpret_cast<uint16_t*>(act.codes) + token * token_stride(); }
    float* floats_at(int64_t token) const { return dense + token * token_stride(); }
    int64_t units() const { return gate && !up ? panels_of(m) / 2 : panels_of(m); }
    int64_t padded() const { return panel.blocks * kBlock; }
    int halves() const { return m.format.halves; }

    // Activation memory for `tokens` tokens.
    int64_t bytes(int64_t tokens) const {
        if (bf16_activations()) return grus::rounded(tokens, kUnitTokens) * token_stride() * 2;
        if (row_major()) return tokens * token_stride() * 4;
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

void prepare_tile(const MatmulJob& job, int64_t x_first, int64_t at, int n) {
    const GrusMatrix& m = job.m;
    const auto row_at = [&](int64_t t) { return job.x + (job.x_rows ? job.x_rows[x_first + t] : x_first + t) * job.x_stride; };
    if (job.row_major()) {
        if (job.on_unit(n)) {
            static thread_local Scratch side_by_side;
            for (int t = 0; t < n; t += kUnitTokens) {
                const int some = std::min(n - t, kUnitTokens);
                const float* from = row_at(t);
                if (job.x_rows) {
                    float* own = reinterpret_cast<float*>(side_by_side.at_least(kUnitTokens * m.columns * 4));
                    for (int i = 0; i < some; ++i) std::memcpy(own + i * m.columns, row_at(t + i), static_cast<size_t>(m.columns) * 4);
                    from = own;
                }
                job.tier.unit->arrange(from, job.x_rows ? m.columns : job.x_stride, some, m.columns, job.bf16_at(at + t));
            }
            return;
        }
        for (int t = 0; t < n; ++t) {
            const float* from = row_at(t);
            if (job.bf16_activations()) {
                job.tier.bf16->round(from, m.columns, job.bf16_at(at + t));
                for (int64_t c = job.padded(); c < job.token_stride() - 32; ++c) job.bf16_at(at + t)[c] = 0;
            } else std::memcpy(job.floats_at(at + t), from, static_cast<size_t>(m.columns) * 4);
        }
        return;
    }
    const float* x = job.x_rows ? job.x : job.x + x_first * job.x_stride;
    const int64_t* rows = job.x_rows ? job.x_rows + x_first : nullptr;
    if (!m.format.dense()) {
        const bool is_signed = m.format.code == Code::S8 || m.format.table != kNumbers;
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

// -- what becomes of a panel before it is multiplied

// A panel of a matrix, made prepared to be multiplied.
struct PreparedPanel {
    const GrusMatrix* m;
    const float* bias;
    Rows rows;           // of a matrix that lies as in a file
    Tile tile;           // of a packed one
    UnitRows unit_rows;  // the same for the matrix unit
    UnitTile unit_tile;
};

// What a thread needs to make a panel prepared.
struct PanelScratch {
    float* scales;
    uint8_t *codes, *panel, *halves;
};

// Few tokens, which meet a panel once, take its 12-bit rows as they lie.
UnitRows bf12_for_unit(const MatmulJob& job, const GrusMatrix& m, const GrusBf12& bf12, int64_t panel, bool last, uint8_t* room) {
    const int64_t first = panel * kRows, bytes = bf12_row_bytes(m.columns);
    const uint8_t* data = bf12.rows + first * bytes;
    return {data, bytes, job.panel.blocks, last ? nullptr : data + kRows * bytes, nullptr, kUnitTokens * job.token_stride(), 0, nullptr,
            bf12.bases + first, std::min<int64_t>(kRows, m.rows - first), bf12.outliers + bf12.starts[panel],
            bf12.outliers + bf12.starts[panel + 1], reinterpret_cast<uint16_t*>(room)};
}

// Sixteen rows of whole blocks. Those at the matrix's edges are copied and padded: its memory ends there.
UnitRows rows_for_unit(const MatmulJob& job, const GrusMatrix& m, int64_t panel, const Rows& lie, bool last, uint8_t* room) {
    const int64_t first = panel * kRows, rows = lie.rows, used = m.columns * 2;
    const uint8_t* data = lie.data;
    UnitRows made{data, lie.row_bytes, job.panel.blocks, nullptr, nullptr, kUnitTokens * job.token_stride(), 0, nullptr,
                  nullptr, 0, nullptr, nullptr, nullptr};
    if (rows < kRows || m.columns % kBlock) {
        made.row_bytes = job.padded() * 2;
        std::memset(room, 0, static_cast<size_t>(kRows * made.row_bytes));
        for (int64_t r = 0; r < rows; ++r)
            std::memcpy(room + r * made.row_bytes, data + r * lie.row_bytes, static_cast<size_t>(used));
        made.data = room;
    } else if (!last && !job.bf12_of(m) && first + 2 * kRows <= m.rows && m.row_bytes == used) {
        made.next = data + kRows * m.row_bytes;
    }
    return made;
}

// Signed bytes are multiplied where they lie. Other codes become bytes first, so what follows them is prefetched during the
// product.
UnitTile tile_for_unit(const MatmulJob& job, const GrusMatrix& m, const uint8_t* panel, bool last, const PanelScratch& room) {
    const Format& f = m.format;
    const uint8_t* codes = panel + job.panel.codes;
    UnitTile made{codes, room.scales, panel, &job.panel, {}, job.panel.blocks, nullptr, 0, nullptr};
    const bool followed = panel != room.panel;  // by more of its matrix
    if (MatmulJob::bytes_as_stored(f)) {
        if (followed) made.prefetch = codes + job.tier.ahead;
        made.prefetch_bytes = code_bytes(f.code);
        return made;
    }
    job.tier.unit->unpack[static_cast<int>(f.code)](codes, job.panel.blocks, f.offset, values_of(f.table), room.codes);
    made.bytes = room.codes;
    if (followed && !last) made.prefetch = panel + job.panel.bytes;
    made.prefetch_bytes = rounded(job.panel.bytes_per_block, 64);
    return made;
}

const float* bias_of(const GrusMatrix& m, int64_t expert, int64_t panel) {
    return m.bias ? m.bias + (expert * panels_of(m) + panel) * kRows : nullptr;
}

// Asks for lines in the order of their addresses. What lies in several regions and is read in turns throws a prefetcher off otherwise.
void ask_for(const uint8_t* from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) PREFETCH(from + at);
}

// `last`: nothing of this matrix will be read after it.
PreparedPanel prepare_panel(const MatmulJob& job, const GrusMatrix& m, int64_t expert, int64_t panel, bool last, int64_t tokens, const PanelScratch& room) {
    const float* bias = bias_of(m, expert, panel);
    if (m.row_bytes) {
        const GrusBf12* bf12 = job.bf12_of(m);
        const int64_t first = panel * kRows, rows = std::min<int64_t>(kRows, m.rows - first);
        if (bf12 && job.uses_bf12_rows(tokens)) {
            const int64_t bytes = bf12_row_bytes(m.columns);
            return {&m, bias, {bf12->rows + first * bytes, bytes, rows, m.columns, true, 0, nullptr, nullptr, job.token_stride(), nullptr,
                               bf12->bases + first, bf12->outliers + bf12->starts[panel], bf12->outliers + bf12->starts[panel + 1]}, {}, {}, {}};
        }
        if (bf12 && tokens <= kUnitMost && job.on_unit(tokens))
            return {&m, bias, {}, {}, bf12_for_unit(job, m, *bf12, panel, last, room.halves), {}};
        const uint8_t* data = bf12 ? bf12_panel(job.tier, m, *bf12, panel, room.halves) : m.data + first * m.row_bytes;
        const int64_t row_bytes = bf12 ? bf12_panel_stride(m.columns) : m.row_bytes;
        if (job.expanded) {
            const Rows given{data, row_bytes, rows, m.columns, false, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr};
            job.tier.to_panel[of_dense(m.format)](given, job.padded(), room.scales);
            const auto* floats = reinterpret_cast<const uint8_t*>(room.scales);
            return {&m, bias, {}, {floats, nullptr, nullptr, nullptr, {}, nullptr, job.panel.blocks, nullptr, 0, Prefetch::Codes, nullptr}, {}, {}};
        }
        const bool streamed = !bf12 && tokens <= job.tier.tile;
        if (!bf12 && !streamed) ask_for(data, rows * row_bytes);
        const Rows lie{data, row_bytes, rows, m.columns, streamed, streamed ? job.tier.ahead : 0, nullptr, nullptr, job.token_stride(), nullptr, nullptr, nullptr, nullptr};
        UnitRows unit_rows{};
        if (job.on_unit(job.width(tokens))) unit_rows = rows_for_unit(job, m, panel, lie, last, room.codes);
        return {&m, bias, lie, {}, unit_rows, {}};
    }
    const uint8_t *data = panel_of(m, job.panel, expert, panel, room.panel), *codes = data + job.panel.codes;
    if (!m.format.dense() && !job.as_stored(tokens)) job.tier.expand(m.format, job.panel, data, room.scales);
    if (job.as_stored(tokens) && data != room.panel) ask_for(data, job.panel.codes);
    const PanelStream stream = job.stream(tokens);
    const int64_t ahead = data == room.panel ? 0 : stream.ahead;
    const Tile tile{codes, room.scales, data, &job.panel, {}, nullptr, job.panel.blocks, values_of(m.format.table, job.tier.signed_bias), ahead, stream.prefetch, nullptr};
    return {&m, bias, {}, tile, {}, job.on_unit(job.width(tokens)) ? tile_for_unit(job, m, data, last, room) : UnitTile{}};
}
