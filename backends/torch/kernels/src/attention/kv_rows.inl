// Writing rows of the KV cache, and reading them back as f32. Included by each tier, like tile.inl.

// What is beyond half precision becomes its greatest, since infinity would make NaN; NaN stays.
INLINE float within_f16(float x) { return x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x; }

// Quantizes one row. NaN must survive.
void quantize_kv_row(const float* x, const KVRows& to) {
    const int top = to.type == KVDtype::Int8 ? 255 : 15;
    for (int64_t g = 0; g < to.dim / to.group; ++g, x += to.group) {
        float least = x[0], most = x[0], nan = 0.0f;
        for (int64_t i = 0; i < to.group; ++i) {
            least = x[i] < least ? x[i] : least;
            most = x[i] > most ? x[i] : most;
            nan += x[i] * 0.0f;
        }
        const uint16_t least_half = to_f16(least);
        least = from_f16(least_half);
        // codes are made against the rounded scale, so that its rounding costs nothing; not 0, which has no inverse
        const float wide = from_f16(to_f16((most - least) / static_cast<float>(top)));
        const uint16_t scale_half = to_f16((wide > 6e-8f ? wide : 6e-8f) + nan);
        const float scale = from_f16(scale_half);
        std::memcpy(to.params + 4 * g, &scale_half, 2);
        std::memcpy(to.params + 4 * g + 2, &least_half, 2);
        uint8_t* codes = to.data + (top == 15 ? g * to.group / 2 : g * to.group);
        for (int64_t i = 0; i < to.group; ++i) {
            float code = (x[i] - least) / scale;
            code = code > 0.0f ? code : 0.0f;  // NaN, too
            code = code < static_cast<float>(top) ? code : static_cast<float>(top);
            const auto byte = static_cast<uint8_t>(static_cast<int32_t>(code + 12582912.0f - 12582912.0f));  // rounds to even
            if (top == 255) codes[i] = byte;
            else codes[i / 2] = static_cast<uint8_t>(i % 2 ? codes[i / 2] | byte << 4 : byte);
        }
    }
}

void store_kv_row(const float* x, const KVRows& to) {
    if (is_codes(to.type)) {
        quantize_kv_row(x, to);
    } else if (to.type == KVDtype::F32) {
        std::memcpy(to.data, x, static_cast<size_t>(to.dim) * 4);
    } else {
        auto* halves = reinterpret_cast<uint16_t*>(to.data);
        if (to.type == KVDtype::F16) for (int64_t i = 0; i < to.dim; ++i) halves[i] = to_f16(within_f16(x[i]));
        else for (int64_t i = 0; i < to.dim; ++i) halves[i] = to_bf16(x[i]);
    }
}

template <bool F16>
INLINE void load_halves(const uint8_t* from, int64_t n, float* out) {
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows) store(out + i, F16 ? load_f16(from + 2 * i) : load_bf16(from + 2 * i));
    for (; i < n; ++i) {
        uint16_t half;
        std::memcpy(&half, from + 2 * i, 2);
        out[i] = F16 ? from_f16(half) : from_bf16(half);
    }
}

INLINE void load_bytes(const uint8_t* codes, int64_t n, float scale, float least, float* out) {
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows) store(out + i, fma(to_floats(octets(codes + i)), broadcast(&scale), broadcast(&least)));
    for (; i < n; ++i) out[i] = static_cast<float>(codes[i]) * scale + least;
}

// `params`: [group][scale, least] as floats.
INLINE void load_kv_codes(const KVRows& row, const float* params, float* out) {
    for (int64_t g = 0; g < row.dim / row.group; ++g, params += 2, out += row.group) {
        if (row.type == KVDtype::Int8) {
            load_bytes(row.data + g * row.group, row.group, params[0], params[1], out);
            continue;
        }
        const uint8_t* pairs = row.data + g * row.group / 2;
        for (int64_t at = 0; at < row.group; at += 64) {
            uint8_t codes[64];
            const int64_t n = std::min<int64_t>(64, row.group - at);
            for (int64_t i = 0; i < n / 2; ++i) {
                codes[2 * i] = pairs[at / 2 + i] & 15;
                codes[2 * i + 1] = pairs[at / 2 + i] >> 4;
            }
            load_bytes(codes, n, params[0], params[1], out + at);
        }
    }
}

// `rows` of them as floats, [rows][dim].
void load_kv_rows(const KVRows& kv, int64_t rows, float* out) {
    switch (kv.type) {
        case KVDtype::F32: std::memcpy(out, kv.data, static_cast<size_t>(rows * kv.dim) * 4); return;
        case KVDtype::F16: load_halves<true>(kv.data, rows * kv.dim, out); return;
        case KVDtype::BF16: load_halves<false>(kv.data, rows * kv.dim, out); return;
        default: break;
    }
    float params[1024];
    const int64_t each = 2 * (kv.dim / kv.group), some = std::max<int64_t>(1024 / each, 1);  // no head has more than 512 groups
    for (int64_t r = 0; r < rows; ++r, out += kv.dim) {
        if (r % some == 0) load_halves<true>(kv.from(r).params, std::min(some, rows - r) * each, params);
        load_kv_codes(kv.from(r), params + r % some * each, out);
    }
}
