// The largest results by shortlist, bit for bit against those of the whole product, of every tier.
#include <cmath>
#include <vector>

#include "sampling/top_k.hpp"
#include "arch/dispatch.hpp"
#include "sampling/shortlist.hpp"
#include "compare.hpp"

using namespace grus;

extern "C" {
const char* grus_tier();
int32_t grus_use_tier(int32_t);
int64_t grus_packed_bytes(const GrusMatrix*);
void grus_prepare(const GrusMatrix*);
void grus_pack(const GrusMatrix*, int64_t, int64_t, int64_t, int32_t, const uint8_t*, const void*, float, int32_t);
void grus_rows(const GrusMatrix*, const int64_t*, int64_t, float*, int32_t);
void grus_matmul(const GrusMatrix*, const float*, int64_t, int64_t, float*, int64_t, int32_t);
}

void compare_shortlists() {
    constexpr int64_t rows = 301, columns = 75, most = 40;
    auto w = fill(rows * columns, uniform), x = fill(most * columns, uniform);
    for (int64_t i = 0; i < columns; ++i) w[200 * columns + i] = w[7 * columns + i];  // two alike
    const GrusMatrix head{{Code::F32, ScaleType::None, 1, 0, BlockScales::None, 1, 0, 0}, 1, rows, columns,
                          reinterpret_cast<uint8_t*>(w.get()), nullptr, columns * 4, nullptr, 0, nullptr, 0};
    GrusMatrix coarse{{Code::S8, ScaleType::F16, 1, 0, BlockScales::None, 1, 0, 0}, 1, rows, columns, nullptr, nullptr, 0, nullptr, 0, nullptr, 0};
    void* memory = ::operator new(static_cast<size_t>(grus_packed_bytes(&coarse)), std::align_val_t(64));
    coarse.data = static_cast<uint8_t*>(memory);
    grus_prepare(&coarse);
    grus_pack(&coarse, 0, 0, rows, 0, head.data, nullptr, 1.0f, 2);
    std::vector<float> off(rows), length(rows), row(columns);
    for (int64_t r = 0; r < rows; ++r) {
        grus_rows(&coarse, &r, 1, row.data(), 1);
        for (int64_t i = 0; i < columns; ++i) {
            length[r] += row[i] * row[i];
            off[r] += (row[i] - w[r * columns + i]) * (row[i] - w[r * columns + i]);
        }
        length[r] = std::sqrt(length[r]);
        off[r] = std::sqrt(off[r]) + 1e-5f * length[r];
    }
    const GrusShortlist list{&head, &coarse, off.data(), length.data(), 1e9f, rows};
    for (int tier = 0; tier < static_cast<int>(TierId::Count); ++tier) {
        if (!select_tier(tier)) continue;
        for (int64_t tokens : {1, 3, 8, 40}) {
            std::vector<float> whole(tokens * rows), want(tokens), got(tokens);
            std::vector<int64_t> places(tokens), found(tokens);
            grus_matmul(&head, x.get(), tokens, columns, whole.data(), rows, 2);
            grus_argmax(whole.data(), tokens, rows, want.data(), places.data(), 2);
            std::vector<float> mass(tokens), nearly(tokens), cold(tokens, 1.0f);
            grus_softmax_mass(whole.data(), tokens, rows, want.data(), cold.data(), mass.data(), 2);
            grus_matmul_argmax(&head, x.get(), tokens, columns, got.data(), found.data(), nearly.data(), 2);
            const bool same = want == got && places == found && nearly == mass;
            const bool told = grus_shortlist(&list, x.get(), tokens, columns, got.data(), found.data(), nearly.data(), 2);
            bool near = true;
            for (int64_t t = 0; t < tokens; ++t) near &= std::fabs(nearly[t] / mass[t] - 1.0f) < 0.05f;
            if (same && told && want == got && places == found && near) continue;
            std::printf("%s: shortlist, %lld tokens: not the largest\n", grus_tier(), (long long)tokens);
            ++failures;
        }
    }
    ::operator delete(memory, std::align_val_t(64));
}
