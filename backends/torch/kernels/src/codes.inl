// How the codes of a packed block become bytes. Included by each tier, after it has defined Bytes and the functions on them.

template <int N, class F>
INLINE void unrolled(F&& body) {
    [&]<int... I>(std::integer_sequence<int, I...>) INLINE_LAMBDA { (body(std::integral_constant<int, I>{}), ...); }
    (std::make_integer_sequence<int, N>{});
}

template <Plane P, int G>
INLINE Bytes bits(const uint8_t* codes) {
    Bytes v = load(codes + P.start + 64 * (G % P.bits));
    return shift_and_mask<P.bits * (G / P.bits) - P.place, ((1 << P.bits) - 1) << P.place>(v);
}

// `get<G>`: the codes of quad G of a block, ready for `dot`. `run`: quads that `dot` may sum before it must widen.
template <Code C>
struct Reader {
    static constexpr bool is_signed = false;
    static constexpr int run = C == Code::U6 ? 2 : C == Code::U5 ? 4 : 8;
    template <int G>
    static INLINE Bytes get(const Tile& in, const uint8_t* codes) {
        (void)in;
        if constexpr (C == Code::U1) {  // 0 and 2, around 1: a sign
            return shift_and_mask<G - 1, 2>(load(codes));
        } else if constexpr (Planes<C>::high.bits > 0) {
            return either(bits<Planes<C>::low, G>(codes), bits<Planes<C>::high, G>(codes));
        } else {
            return bits<Planes<C>::low, G>(codes);
        }
    }
};
template <>
struct Reader<Code::S8> {
    static constexpr bool is_signed = true;
    static constexpr int run = 1;
    template <int G>
    static INLINE Bytes get(const Tile&, const uint8_t* codes) { return signed_codes(load(codes + 64 * G)); }
};
template <>
struct Reader<Code::L4> {
    static constexpr bool is_signed = true;
    static constexpr int run = 1;
    template <int G>
    static INLINE Bytes get(const Tile& in, const uint8_t* codes) {
        return signed_codes(lookup(in.values, bits<Planes<Code::U4>::low, G>(codes)));
    }
};
