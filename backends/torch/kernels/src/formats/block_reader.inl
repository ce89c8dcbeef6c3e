// Readers of packed blocks: codes become bytes, scales become floats. Included by each tier after it has defined Bytes and Floats and
// the functions on them.

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
        return lookup(in.values, bits<Planes<Code::U4>::low, G>(codes));
    }
};
template <>
struct Reader<Code::L3> {
    static constexpr bool is_signed = true;
    static constexpr int run = 1;
    template <int G>
    static INLINE Bytes get(const Tile& in, const uint8_t* codes) {
        return lookup(in.values, either(bits<Planes<Code::L3>::low, G>(codes), bits<Planes<Code::L3>::high, G>(codes)));
    }
};

// Floats of eight bits without a sign, by 2^-8: f16 has one more bit of exponent and seven more of fraction.
INLINE Floats load_e4m3(const uint8_t* from) {
    alignas(32) uint16_t halves[kRows];
    for (int i = 0; i < kRows; ++i) halves[i] = static_cast<uint16_t>((from[i] & 0x7f) << 7);
    return load_f16(reinterpret_cast<const uint8_t*>(halves));
}

// The same with signs.
INLINE Floats load_f8(const uint8_t* from) {
    alignas(32) uint16_t halves[kRows];
    for (int i = 0; i < kRows; ++i) halves[i] = static_cast<uint16_t>(static_cast<int8_t>(from[i]) * 128) & 0xbf80;
    return load_f16(reinterpret_cast<const uint8_t*>(halves));
}

// Powers of two by their exponents, halved, by way of bf16, which has them all. The second bound is that of the two smallest, below its normal
// numbers; without a branch, so that compilers make vectors of it.
INLINE Floats load_e8m0(const uint8_t* from) {
    alignas(32) int16_t halves[kRows];
    for (int i = 0; i < kRows; ++i) halves[i] = static_cast<int16_t>(std::max(128 * (from[i] - 1), 32 * (from[i] + 1)));
    return load_bf16(reinterpret_cast<const uint8_t*>(halves));
}

INLINE Floats load_block_scales(BlockScales kind, const uint8_t* from) {
    return kind == BlockScales::Signed ? load_s8(from) : load_e4m3(from);
}

// A block's scales and minima of four or six bits, see Panel.
INLINE void load_four_bits(const uint8_t* from, Floats& scale, Floats& minimum) {
    const Octets both = octets(from);
    scale = to_floats(shift_and_mask<0, 15>(both));
    minimum = to_floats(shift_and_mask<4, 15>(both));
}
INLINE void load_six_bits(const uint8_t* from, const uint8_t* block_minima, int64_t block, Floats& scale, Floats& minimum) {
    const Octets step = octets(from), lows = octets(block_minima + Panel::low_of_minimum(block));
    const Octets low = Panel::is_upper(block) ? shift_and_mask<4, 15>(lows) : shift_and_mask<0, 15>(lows);
    scale = to_floats(shift_and_mask<0, 63>(step));
    minimum = to_floats(either(shift_and_mask<2, 0x30>(step), low));
}

// A panel's scales and minima, block after block: as `expand_scales` has laid them out, or (Stored) made of what is stored, in
// the same order of operations. Made where they are used they wait for memory together with the codes; so it is for few tokens.
// `Both`: of formats that share a kernel some have block scales, and some have none.
template <int Halves, bool Minima, bool Stored, bool Both = false>
class Scales {
    static constexpr bool kStepped = Minima || Halves == 2;  // of those that `is_read_as_stored`

  public:
    INLINE void begin(const float* expanded, const uint8_t* panel, const Panel* layout) {
        next_ = expanded;
        if constexpr (Stored) {
            unit_ = broadcast(&layout->unit);
            powers_ = layout->powers;
            stepped_ = layout->blocks_per_scale == kStoredBlocks;
            d_ = panel;
            m_ = panel + layout->minima;
            block_scales_ = panel + layout->block_scales;
            block_minima_ = panel + layout->block_minima;
        }
    }

    // Of the next half of block `b`.
    INLINE void take(int64_t b, int half, Floats& scale, Floats& minimum) {
        if constexpr (!Stored) {
            scale = load_floats(next_);
            next_ += kRows;
            if constexpr (Minima) {
                minimum = load_floats(next_);
                next_ += kRows;
            }
        } else {
            if constexpr (!kStepped) {
                if (!Both || !stepped_) {
                    scale = powers_ ? load_e8m0(d_) : load_f16(d_);
                    d_ += powers_ ? kRows : 2 * kRows;
                    return;
                }
            }
            if (half == 0 && b % kStoredBlocks == 0) {
                of_group_ = mul(load_f16(d_), unit_);
                d_ += 2 * kRows;
                if constexpr (Minima) {
                    minima_of_group_ = sub(zeros(), load_f16(m_));
                    m_ += 2 * kRows;
                }
            }
            Floats step;
            if constexpr (!Minima) step = load_s8(block_scales_);
            else if constexpr (Halves == 2) load_four_bits(block_scales_, step, minimum);
            else load_six_bits(block_scales_, block_minima_, b, step, minimum);
            block_scales_ += kRows;
            scale = mul(of_group_, step);
            if constexpr (Minima) minimum = mul(minima_of_group_, minimum);
        }
    }

  private:
    const float* next_ = nullptr;
    bool powers_ = false, stepped_ = false;
    const uint8_t *d_ = nullptr, *m_ = nullptr, *block_scales_ = nullptr, *block_minima_ = nullptr;
    Floats unit_{}, of_group_{}, minima_of_group_{};
};
