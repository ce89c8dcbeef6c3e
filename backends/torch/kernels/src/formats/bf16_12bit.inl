// Decoding of 12-bit rows to bf16. Included by each tier, like tile.inl.

// The exponents that the codes of one row stand for, cut into what a number's high byte and its low byte have of them.
struct Exponents { int8_t high[16], low[16]; };

INLINE Exponents exponents_of(int base) {
    Exponents made;
    for (int code = 0; code < 16; ++code) {
        const int exponent = code ? base + code : 0;
        made.high[code] = static_cast<int8_t>(exponent >> 1);
        made.low[code] = static_cast<int8_t>(exponent << 7);
    }
    return made;
}

INLINE void decode_bf12_half(Bytes signed_fractions, Bytes codes, const Exponents& exponents, uint16_t* to) {
    store_pairs(to, either(lookup(exponents.low, codes), shift_and_mask<0, 0x7f>(signed_fractions)),
                either(lookup(exponents.high, codes), shift_and_mask<0, 0x80>(signed_fractions)));
}

INLINE void decode_bf12_block(const uint8_t* from, const Exponents& exponents, uint16_t* to) {
    const Bytes codes = load(from + kBf12Columns);
    decode_bf12_half(load(from), shift_and_mask<0, 15>(codes), exponents, to);
    decode_bf12_half(load(from + 64), shift_and_mask<4, 15>(codes), exponents, to + 64);
}

void decode_bf12_row(const uint8_t* from, int base, int64_t blocks, int64_t ahead, uint16_t* to) {
    const Exponents exponents = exponents_of(base);
    for (int64_t b = 0; b < blocks; ++b, from += kBf12Bytes, to += kBf12Columns) {
        if (ahead) for (int64_t at = 0; at < kBf12Bytes; at += 64) PREFETCH_FAR(from + ahead + at);
        decode_bf12_block(from, exponents, to);
    }
}
