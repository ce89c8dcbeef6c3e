// What becomes of a panel before it is multiplied. Included by matmul.cpp, behind job.inl.

// A panel of a matrix, made ready to be multiplied.
struct Ready {
    const GrusMatrix* m;
    const float* bias;
    Rows rows;           // of a matrix that lies as in a file
    Tile tile;           // of a packed one
    UnitRows unit_rows;  // the same for the matrix unit
    UnitTile unit_tile;
};

// What a thread needs to make a panel ready.
struct Room {
    float* scales;
    uint8_t *codes, *panel, *halves;
};

// Few tokens, which meet a panel once, take its rows of twelve bits as they lie.
UnitRows twelve_for_unit(const Job& job, const GrusMatrix& m, const GrusTwelve& twelve, int64_t panel, bool last, uint8_t* room) {
    const int64_t first = panel * kRows, bytes = twelve_row_bytes(m.columns);
    const uint8_t* data = twelve.rows + first * bytes;
    return {data, bytes, job.panel.blocks, last ? nullptr : data + kRows * bytes, nullptr, kUnitTokens * job.spread(), 0, nullptr,
            twelve.bases + first, std::min<int64_t>(kRows, m.rows - first), twelve.odd + twelve.starts[panel],
            twelve.odd + twelve.starts[panel + 1], reinterpret_cast<uint16_t*>(room)};
}

// Sixteen rows of whole blocks. Those at the matrix's edges are copied and padded: its memory ends there.
UnitRows rows_for_unit(const Job& job, const GrusMatrix& m, int64_t panel, const Rows& lie, bool last, uint8_t* room) {
    const int64_t first = panel * kRows, rows = lie.rows, used = m.columns * 2;
    const uint8_t* data = lie.data;
    UnitRows made{data, lie.row_bytes, job.panel.blocks, nullptr, nullptr, kUnitTokens * job.spread(), 0, nullptr,
                  nullptr, 0, nullptr, nullptr, nullptr};
    if (rows < kRows || m.columns % kBlock) {
        made.row_bytes = job.padded() * 2;
        std::memset(room, 0, static_cast<size_t>(kRows * made.row_bytes));
        for (int64_t r = 0; r < rows; ++r)
            std::memcpy(room + r * made.row_bytes, data + r * lie.row_bytes, static_cast<size_t>(used));
        made.data = room;
    } else if (!last && !job.twelve_of(m) && first + 2 * kRows <= m.rows && m.row_bytes == used) {
        made.next = data + kRows * m.row_bytes;
    }
    return made;
}

// Signed bytes are multiplied where they lie. Other codes become bytes first, so what follows them is asked for while they are
// multiplied.
UnitTile tile_for_unit(const Job& job, const GrusMatrix& m, const uint8_t* panel, bool last, const Room& room) {
    const Format& f = m.format;
    const uint8_t* codes = panel + job.panel.codes;
    UnitTile made{codes, room.scales, panel, &job.panel, {}, job.panel.blocks, nullptr, 0, nullptr};
    const bool followed = panel != room.panel;  // by more of its matrix
    if (Job::bytes_as_stored(f)) {
        if (followed) made.ask = codes + job.tier.ahead;
        made.ask_bytes = code_bytes(f.code);
        return made;
    }
    job.tier.unit->unpack[static_cast<int>(f.code)](codes, job.panel.blocks, f.offset, values_of(f.table), room.codes);
    made.bytes = room.codes;
    if (followed && !last) made.ask = panel + job.panel.bytes;
    made.ask_bytes = rounded(job.panel.bytes / job.panel.blocks, 64);
    return made;
}

// `last`: nothing of this matrix will be read after it.
Ready make_ready(const Job& job, const GrusMatrix& m, int64_t expert, int64_t panel, bool last, int64_t tokens, const Room& room) {
    const float* bias = m.bias ? m.bias + (expert * panels_of(m) + panel) * kRows : nullptr;
    if (m.row_bytes) {
        const GrusTwelve* twelve = job.twelve_of(m);
        const int64_t first = panel * kRows, rows = std::min<int64_t>(kRows, m.rows - first);
        if (twelve && job.in_twelve(tokens)) {
            const int64_t bytes = twelve_row_bytes(m.columns);
            return {&m, bias, {twelve->rows + first * bytes, bytes, rows, m.columns, true, 0, nullptr, nullptr, job.spread(), nullptr,
                               twelve->bases + first, twelve->odd + twelve->starts[panel], twelve->odd + twelve->starts[panel + 1]}, {}, {}, {}};
        }
        if (twelve && tokens <= kUnitMost && job.by_unit(tokens))
            return {&m, bias, {}, {}, twelve_for_unit(job, m, *twelve, panel, last, room.halves), {}};
        const uint8_t* data = twelve ? panel_of_twelve(job.tier, m, *twelve, panel, room.halves) : m.data + first * m.row_bytes;
        const int64_t row_bytes = twelve ? twelve_stride(m.columns) : m.row_bytes;
        if (job.expanded) {
            const Rows given{data, row_bytes, rows, m.columns, false, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr};
            job.tier.to_panel[of_dense(m.format)](given, job.padded(), room.scales);
            const auto* floats = reinterpret_cast<const uint8_t*>(room.scales);
            return {&m, bias, {}, {floats, nullptr, nullptr, nullptr, {}, nullptr, job.panel.blocks, nullptr, 0, nullptr}, {}, {}};
        }
        const bool streamed = !twelve && tokens <= job.tier.tile;
        for (int64_t at = 0; !twelve && !streamed && at < rows * row_bytes; at += 64) PREFETCH(data + at);  // in order, once
        const Rows lie{data, row_bytes, rows, m.columns, streamed, streamed ? job.tier.ahead : 0, nullptr, nullptr, job.spread(), nullptr, nullptr, nullptr, nullptr};
        UnitRows unit_rows{};
        if (job.by_unit(job.width(tokens))) unit_rows = rows_for_unit(job, m, panel, lie, last, room.codes);
        return {&m, bias, lie, {}, unit_rows, {}};
    }
    const uint8_t *data = panel_of(m, job.panel, expert, panel, room.panel), *codes = data + job.panel.codes;
    if (!m.format.dense() && !job.as_stored(tokens)) job.tier.expand(m.format, job.panel, data, room.scales);
    const int64_t ahead = data == room.panel ? 0 : job.tier.ahead;
    const Tile tile{codes, room.scales, data, &job.panel, {}, nullptr, job.panel.blocks, values_of(m.format.table), ahead, nullptr};
    return {&m, bias, {}, tile, {}, job.by_unit(job.width(tokens)) ? tile_for_unit(job, m, data, last, room) : UnitTile{}};
}
