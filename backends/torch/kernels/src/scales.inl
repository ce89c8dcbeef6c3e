// A packed panel's scales. Included by tiers, after they have defined Floats and the functions on them.

// A panel's scales and minima, block after block: as `expand_scales` has laid them out, or (Stored) made of what is stored, in
// the same order of operations. Made where they are used they wait for memory together with the codes; so it is for few tokens.
template <int Halves, bool Minima, bool Stored>
class Scales {
    static constexpr bool kStepped = Minima || Halves == 2;  // of those that `is_read_as_stored`

  public:
    INLINE void begin(const float* expanded, const uint8_t* panel, const Panel* layout) {
        next_ = expanded;
        if constexpr (Stored) {
            d_ = panel;
            m_ = panel + layout->minima;
            steps_ = panel + layout->steps;
            floors_ = panel + layout->floors;
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
        } else if constexpr (!kStepped) {
            scale = load_f16(d_);
            d_ += 2 * kRows;
        } else {
            if (half == 0 && b % kStoredBlocks == 0) {
                of_group_ = load_f16(d_);
                d_ += 2 * kRows;
                if constexpr (Minima) {
                    minima_of_group_ = load_f16(m_);
                    m_ += 2 * kRows;
                }
            }
            scale = mul(of_group_, Minima ? load_u8(steps_) : load_s8(steps_));
            steps_ += kRows;
            if constexpr (Minima) {
                minimum = sub(zeros(), mul(minima_of_group_, load_u8(floors_)));
                floors_ += kRows;
            }
        }
    }

  private:
    const float* next_ = nullptr;
    const uint8_t *d_ = nullptr, *m_ = nullptr, *steps_ = nullptr, *floors_ = nullptr;
    Floats of_group_{}, minima_of_group_{};
};
