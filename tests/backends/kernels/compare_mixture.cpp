// Mixtures of experts by every tier against the scalar one: packed experts and such as lie apart in a file, alone and many tokens together.
#include <cmath>
#include <utility>
#include <vector>

#include "arch/dispatch.hpp"
#include "compare.hpp"
#include "matmul/matmul.hpp"
#include "mixture/mixture.hpp"

using namespace grus;

extern "C" {
const char* grus_tier();
int32_t grus_use_tier(int32_t);
int64_t grus_packed_bytes(const GrusMatrix*);
void grus_prepare(const GrusMatrix*);
void grus_pack(const GrusMatrix*, int64_t, int64_t, int64_t, int32_t, const uint8_t*, const void*, float, int32_t);
}

namespace {

constexpr int64_t kExperts = 5, kColumns = 96, kFfn = 48, kOut = 37;

void compare(Activation activation, bool alternating, bool apart, int64_t tokens) {
    const int64_t wide = activation == Activation::ReluSquared ? kFfn : 2 * kFfn;
    auto up_rows = fill(kExperts * wide * kColumns, uniform), down_rows = fill(kExperts * kOut * kFfn, uniform);
    auto x = fill(tokens * kColumns, uniform), scores = fill(tokens * kExperts, uniform);
    auto up_bias = fill(kExperts * wide, uniform), preferred = fill(kExperts, uniform), down_bias = fill(kExperts * rounded(kOut, kRows), uniform);
    const Format floats{Code::F32, ScaleType::None, 1, 0, BlockScales::None, 1, 0, 0}, bytes{Code::S8, ScaleType::F16, 1, 0, BlockScales::None, 1, 0, 0};
    GrusMatrix up{bytes, kExperts, wide, kColumns, nullptr, up_bias.get(), 0, nullptr, 0, nullptr, 0};
    GrusMatrix down{bytes, kExperts, kOut, kFfn, nullptr, down_bias.get(), 0, nullptr, 0, nullptr, 0};
    void* memory[2];
    int made = 0;
    for (auto [m, rows] : {std::pair{&up, up_rows.get()}, std::pair{&down, down_rows.get()}}) {
        memory[made] = ::operator new(static_cast<size_t>(grus_packed_bytes(m)), std::align_val_t(64));
        m->data = static_cast<uint8_t*>(memory[made++]);
        grus_prepare(m);
        for (int64_t e = 0; e < kExperts; ++e)
            grus_pack(m, e, 0, m->rows, 0, reinterpret_cast<uint8_t*>(rows + e * m->rows * m->columns), nullptr, 1.0f, 2);
    }
    std::vector<GrusMatrix> each;
    for (int64_t e = 0; e < kExperts; ++e) {
        each.push_back({floats, 1, wide, kColumns, reinterpret_cast<uint8_t*>(up_rows.get() + e * wide * kColumns), up_bias.get() + e * wide, kColumns * 4, nullptr, 0, nullptr, 0});
        each.push_back({floats, 1, kOut, kFfn, reinterpret_cast<uint8_t*>(down_rows.get() + e * kOut * kFfn), down_bias.get() + e * rounded(kOut, kRows), kFfn * 4, nullptr, 0, nullptr, 0});
    }
    std::vector<const GrusMatrix*> ups, downs;
    for (int64_t e = 0; e < (apart ? kExperts : 1); ++e) ups.push_back(apart ? &each[2 * e] : &up), downs.push_back(apart ? &each[2 * e + 1] : &down);
    GrusMixture m{};
    m.up = ups.data(), m.down = downs.data(), m.up_count = m.down_count = 1, m.up_apart = m.down_apart = apart;
    m.activation = static_cast<int32_t>(activation), m.alternating = alternating;
    m.gated = activation != Activation::ReluSquared && !alternating;
    m.alpha = 1.7f, m.limit = 0.9f, m.experts = kExperts, m.chosen = 2, m.groups = m.kept = m.judged_by = 1;
    m.sigmoid = apart, m.renormalize = alternating, m.scale = 1.5f, m.preferred = apart ? preferred.get() : nullptr;
    std::vector<float> want(tokens * kOut), got(tokens * kOut);
    grus_use_tier(0);
    run_mixture(m, x.get(), kColumns, scores.get(), kExperts, tokens, want.data(), kOut, 2);
    for (int tier = 1; tier < static_cast<int>(TierId::Count); ++tier) {
        if (!select_tier(tier)) continue;
        run_mixture(m, x.get(), kColumns, scores.get(), kExperts, tokens, got.data(), kOut, 2);
        double apart_by = 0, size = 0;
        for (size_t i = 0; i < want.size(); ++i) {
            apart_by += (got[i] - want[i]) * (got[i] - want[i]);
            size += want[i] * want[i];
        }
        if (apart_by <= size * (apart ? 1e-8 : 4e-4)) continue;  // bytes, or bf16, stand for activations of packed experts
        std::printf("%s: mixture, activation %d%s%s, %lld tokens: %g of %g apart\n", grus_tier(), (int)activation,
                    alternating ? ", alternating" : "", apart ? ", apart" : "", (long long)tokens, std::sqrt(apart_by), std::sqrt(size));
        ++failures;
    }
    for (void* block : memory) ::operator delete(block, std::align_val_t(64));
}

}  // namespace

void compare_mixtures() {
    for (int64_t tokens : {1, 9, 150})
        for (bool apart : {false, true})
            for (bool alternating : {false, true})
                for (Activation a : {Activation::Swiglu, Activation::Geglu, Activation::ClampedSwiglu, Activation::ReluSquared})
                    if (!alternating || a != Activation::ReluSquared) compare(a, alternating, apart, tokens);
}
