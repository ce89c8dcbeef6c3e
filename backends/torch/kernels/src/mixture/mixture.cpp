// Tokens are routed, sorted by expert, and each expert is one product with the tokens that chose it, so only chosen experts are read.
// What experts make of a token is added in the order in which the router chose them, whatever the threads do.
#include "mixture/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "arch/dispatch.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "matmul/matmul.hpp"

namespace grus {
namespace {

constexpr int64_t kFewNumbers = 1 << 14;   // that one thread is done with before another has begun
constexpr int64_t kMostBytes = 64 << 20;  // of what experts make of tokens, at once

int worth(int64_t numbers, int threads) { return numbers > kFewNumbers ? threads : 1; }

// -- routing of one token

struct Router {
    const GrusMixture& m;
    const Tier& tier;

    // The places of the best `k` of n, best first; the first of equals. Always k of them, even of NaN.
    static void best_of(const float* x, int64_t n, int64_t k, int64_t* places) {
        int64_t found = 0;
        for (int64_t i = 0; i < n; ++i) {
            if (found == k && !(x[i] > x[places[k - 1]])) continue;
            int64_t at = found < k ? found++ : k - 1;
            for (; at > 0 && x[i] > x[places[at - 1]]; --at) places[at] = places[at - 1];
            places[at] = i;
        }
    }

    // Scores outside of the best groups become so small that nobody chooses them.
    void leave_best_groups(float* wanted, std::vector<float>& sums, std::vector<int64_t>& places) const {
        const int64_t each = m.experts / m.groups;
        sums.assign(static_cast<size_t>(m.groups), 0.0f);
        places.resize(static_cast<size_t>(std::max(m.judged_by, m.kept)));
        for (int64_t g = 0; g < m.groups; ++g) {
            best_of(wanted + g * each, each, m.judged_by, places.data());
            for (int64_t i = 0; i < m.judged_by; ++i) sums[static_cast<size_t>(g)] += wanted[g * each + places[static_cast<size_t>(i)]];
        }
        best_of(sums.data(), m.groups, m.kept, places.data());
        for (int64_t g = 0; g < m.groups; ++g)
            if (std::find(places.begin(), places.begin() + m.kept, g) == places.begin() + m.kept)
                std::fill_n(wanted + g * each, each, -std::numeric_limits<float>::max());
    }

    void route(const float* raw, float* shares, int64_t* experts) const {
        static thread_local std::vector<float> scores, wanted, sums;
        static thread_local std::vector<int64_t> places;
        const int64_t n = m.experts, k = m.chosen;
        scores.assign(raw, raw + n);
        if (m.softcap > 0)
            for (float& s : scores) s = std::tanh(s / m.softcap) * m.softcap;
        const bool all = m.sigmoid || m.preferred || m.kept < m.groups;  // else the order of raw scores is that of their softmax
        if (m.sigmoid) {
            for (float& s : scores) s = 1.0f / (1.0f + std::exp(-s));
        } else {
            const float peak = tier.peak(scores.data(), n);
            const float factor = m.renormalize && !all ? 1.0f : 1.0f / tier.mass(scores.data(), n, peak, 1.0f);
            if (!all) {
                best_of(scores.data(), n, k, experts);
                for (int64_t j = 0; j < k; ++j) shares[j] = std::exp(scores[static_cast<size_t>(experts[j])] - peak) * factor;
            } else {
                for (float& s : scores) s = std::exp(s - peak) * factor;
            }
        }
        if (all) {
            wanted = scores;
            if (m.preferred)
                for (int64_t i = 0; i < n; ++i) wanted[static_cast<size_t>(i)] += m.preferred[i];
            if (m.kept < m.groups) leave_best_groups(wanted.data(), sums, places);
            best_of(wanted.data(), n, k, experts);
            for (int64_t j = 0; j < k; ++j) shares[j] = scores[static_cast<size_t>(experts[j])];
        }
        float factor = m.scale;
        if (m.renormalize) {
            float total = 0.0f;
            for (int64_t j = 0; j < k; ++j) total += shares[j];
            factor /= total + 1e-20f;
        }
        for (int64_t j = 0; j < k; ++j) shares[j] *= m.factors ? factor * m.factors[experts[j]] : factor;
    }
};

// -- the whole

struct Mixture {
    const GrusMixture& m;
    const Tier& tier;
    int threads;
    ExpertMatrices up, down;
    Gate gate;
    int64_t wide, ffn, hidden;  // what a product with `up` gives where it is not gated; what activations leave; results

    Mixture(const GrusMixture& mixture, int number)
        : m(mixture), tier(current_tier()), threads(number), up{m.up, m.up_count, m.up_count, m.up_apart != 0},
          down{m.down, m.down_count, m.down_count, m.down_apart != 0},
          gate{static_cast<Activation>(m.activation), m.alpha, m.limit}, wide(0), ffn(down.of(0, 0)->columns), hidden(0) {
        for (int64_t i = 0; i < up.count; ++i) wide += up.of(0, i)->rows;
        for (int64_t i = 0; i < down.count; ++i) hidden += down.of(0, i)->rows;
    }

    // `made` in, `ffn` numbers out, which may be where they came from.
    void activate(const float* made, float* out, std::vector<float>& sides) const {
        if (gate.kind == Activation::ReluSquared) {
            for (int64_t i = 0; i < ffn; ++i) {
                const float kept = made[i] < 0.0f ? 0.0f : made[i];  // NaN stays
                out[i] = kept * kept;
            }
            return;
        }
        sides.resize(static_cast<size_t>(2 * ffn));
        if (m.alternating)
            for (int64_t i = 0; i < ffn; ++i) sides[static_cast<size_t>(i)] = made[2 * i], sides[static_cast<size_t>(ffn + i)] = made[2 * i + 1];
        else
            std::copy_n(made, 2 * ffn, sides.data());
        gate.run(tier, sides.data(), sides.data() + ffn, ffn, out);
    }

    void run(const float* x, int64_t x_stride, const float* scores, int64_t scores_stride, int64_t tokens, float* out, int64_t out_stride) const {
        static thread_local Scratch scratch;
        static thread_local std::vector<int64_t> order, x_rows, at, starts;
        static thread_local std::vector<ExpertGroup> groups;
        const int64_t k = m.chosen, pairs = tokens * k, inner = m.gated ? ffn : wide;
        float* shares = reinterpret_cast<float*>(scratch.at_least(4 * (rounded(pairs, 16) * (1 + hidden) + pairs * inner)));
        float *results = shares + rounded(pairs, 16), *made = results + pairs * hidden;
        order.resize(static_cast<size_t>(pairs));  // the expert of each pair, then its place among all sorted by expert
        x_rows.resize(static_cast<size_t>(pairs));
        int64_t* placed = order.data();
        const Router router{m, tier};
        parallel(tokens, 1, worth(8 * tokens * m.experts, threads), [&](int64_t begin, int64_t end) {
            for (int64_t t = begin; t < end; ++t) router.route(scores + t * scores_stride, shares + t * k, placed + t * k);
        });
        starts.assign(static_cast<size_t>(m.experts + 1), 0);
        for (int64_t expert : order) ++starts[static_cast<size_t>(expert + 1)];
        groups.clear();
        for (int64_t e = 0; e < m.experts; ++e) {
            const auto i = static_cast<size_t>(e);
            if (starts[i + 1]) groups.push_back({e, starts[i], starts[i + 1]});
            starts[i + 1] += starts[i];
        }
        for (int64_t pair = 0; pair < pairs; ++pair) {
            const int64_t place = starts[static_cast<size_t>(placed[pair])]++;
            x_rows[static_cast<size_t>(place)] = pair / k;
            placed[pair] = place;
        }
        const auto count = static_cast<int64_t>(groups.size());
        for (const ExpertGroup& group : groups)
            for (const ExpertMatrices* all : {&up, &down})
                for (int64_t i = 0; i < all->count; ++i) ask_for_rows(*all->of(group.expert, i), all->apart ? 0 : group.expert);
        multiply_experts(up, m.gated ? &gate : nullptr, groups.data(), count, {x, x_stride, x_rows.data(), made, inner, nullptr}, threads);
        if (!m.gated) {
            parallel(pairs, 1, worth(pairs * inner, threads), [&](int64_t begin, int64_t end) {
                static thread_local std::vector<float> sides;
                for (int64_t i = begin; i < end; ++i) activate(made + i * inner, made + i * inner, sides);
            });
        }
        multiply_experts(down, nullptr, groups.data(), count, {made, inner, nullptr, results, hidden, nullptr}, threads);
        parallel(tokens, 1, worth(pairs * hidden, threads), [&](int64_t begin, int64_t end) {
            for (int64_t t = begin; t < end; ++t) {
                float* to = out + t * out_stride;
                for (int64_t j = 0; j < k; ++j) {
                    const float share = shares[t * k + j];
                    const float* from = results + placed[t * k + j] * hidden;
                    if (j == 0) for (int64_t c = 0; c < hidden; ++c) to[c] = share * from[c];
                    else for (int64_t c = 0; c < hidden; ++c) to[c] += share * from[c];
                }
            }
        });
    }
};

}  // namespace

void run_mixture(const GrusMixture& m, const float* x, int64_t x_stride, const float* scores, int64_t scores_stride, int64_t tokens,
                 float* out, int64_t out_stride, int threads) {
    const Mixture mixture(m, threads);
    const int64_t most = std::max<int64_t>(1, kMostBytes / (4 * m.chosen * mixture.hidden));
    for (int64_t t = 0; t < tokens; t += most)
        mixture.run(x + t * x_stride, x_stride, scores + t * scores_stride, scores_stride, std::min(most, tokens - t), out + t * out_stride, out_stride);
}

}  // namespace grus

extern "C" {

GRUS_API void grus_mixture(const GrusMixture* m, const float* x, int64_t x_stride, const float* scores, int64_t scores_stride, int64_t tokens,
                           float* out, int64_t out_stride, int32_t threads) {
    grus::run_mixture(*m, x, x_stride, scores, scores_stride, tokens, out, out_stride, threads);
}

}  // extern "C"
