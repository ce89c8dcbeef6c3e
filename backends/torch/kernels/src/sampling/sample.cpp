// Sampling of the next token from rows of logits, as sample.py defines it. Only the top of a long row is sorted wherever that provably
// contains the answer.
#include "sampling/sample.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arch/dispatch.hpp"
#include "sampling/top_k.hpp"

using namespace grus;

namespace {

constexpr int64_t kPrefixes[] = {256, 4096};
constexpr double kTooFar = 64.0;  // times the mass of a prefix: what lies there is not in the next one

struct Row {
    const float* x;
    int64_t n;
    float best;
    int threads;
};

// Probabilities of the `m` best tokens, of all tokens unless `kept` of them are all there are.
struct Prefix {
    std::vector<float> values;
    std::vector<int64_t> places;
    std::vector<double> p;
    int64_t kept;
    bool whole;  // nothing is kept beyond it

    double mass() const {
        double sum = 0.0;
        for (int64_t i = 0; i < kept; ++i) sum += p[static_cast<size_t>(i)];
        return sum;
    }
    double last() const { return kept == static_cast<int64_t>(p.size()) ? p.back() : 0.0; }
};

double mass_of(const Row& row, float temperature) {
    float mass;
    grus_softmax_mass(row.x, 1, row.n, &row.best, &temperature, &mass, row.threads);
    return mass;
}

void look_at(const Row& row, const GrusSampler& sampler, int64_t m, double& mass, Prefix& prefix) {
    prefix.values.resize(static_cast<size_t>(m));
    prefix.places.resize(static_cast<size_t>(m));
    prefix.p.resize(static_cast<size_t>(m));
    grus_top_k(row.x, 1, row.n, m, prefix.values.data(), prefix.places.data(), row.threads);
    const bool few = sampler.top_k && sampler.top_k <= m;  // then it does not matter how much all others have
    if (!few && mass == 0.0) mass = mass_of(row, sampler.temperature);
    for (size_t i = 0; i < prefix.p.size(); ++i)
        prefix.p[i] = std::exp(static_cast<double>(prefix.values[i] - row.best) / sampler.temperature) / (few ? 1.0 : mass);
    prefix.kept = few ? sampler.top_k : m;
    prefix.whole = few || m == row.n;
}

// What the filters leave.
void filter(const GrusSampler& sampler, Prefix& prefix) {
    if (sampler.top_p < 1.0f) {
        const double mass = prefix.mass(), bound = static_cast<double>(sampler.top_p) * (prefix.whole ? mass : 1.0);
        prefix.whole |= mass >= bound;
        int64_t kept = 0;
        for (double before = 0.0; kept < prefix.kept && (kept == 0 || before < bound); ++kept) before += prefix.p[static_cast<size_t>(kept)];
        prefix.kept = kept;
    }
    if (sampler.min_p > 0.0f) {
        const double floor = static_cast<double>(sampler.min_p) * prefix.p[0];
        prefix.whole |= prefix.last() < floor;
        while (prefix.kept > 1 && prefix.p[static_cast<size_t>(prefix.kept - 1)] < floor) --prefix.kept;
    }
    while (prefix.kept > 1 && prefix.p[static_cast<size_t>(prefix.kept - 1)] == 0.0) --prefix.kept;
}

int64_t chosen(const Row& row, const GrusSampler& sampler) {
    static thread_local Prefix prefix;
    const bool filtered = sampler.top_k || sampler.top_p < 1.0f || sampler.min_p > 0.0f;
    const double wanted = sampler.top_p < 1.0f ? sampler.top_p : sampler.noise;
    double mass = 0.0;
    int64_t m = std::min(row.n, kPrefixes[0]);
    for (;;) {
        look_at(row, sampler, m, mass, prefix);
        filter(sampler, prefix);
        const double bound = sampler.noise * (prefix.whole ? prefix.mass() : 1.0);
        int64_t at = 0;
        for (double running = prefix.p[0]; at < prefix.kept && running <= bound;)
            if (++at < prefix.kept) running += prefix.p[static_cast<size_t>(at)];
        if (m == row.n || prefix.whole || (!filtered && at < m)) return prefix.places[static_cast<size_t>(std::min(at, prefix.kept - 1))];
        m = m == kPrefixes[0] && prefix.mass() * kTooFar > wanted ? std::min(row.n, kPrefixes[1]) : row.n;
    }
}

}  // namespace

extern "C" {

GRUS_API void grus_sample(const float* x, int64_t rows, int64_t n, const float* best, const GrusSampler* samplers, int32_t* ids,
                          int32_t threads) {
    for (int64_t row = 0; row < rows; ++row)
        if (samplers[row].temperature > 0.0f && std::isfinite(best[row]))
            ids[row] = static_cast<int32_t>(chosen({x + row * n, n, best[row], threads}, samplers[row]));
}

GRUS_API void grus_draw(const float* logits, int64_t rows, int64_t n, const float* noise, const int32_t* random,
                        float temperature, int64_t k, float top_p, int32_t* ids) {
    constexpr float below_one = 1.0f - 1e-6f;  // keeps a bound below the whole mass however sums are rounded
    static thread_local std::vector<float> values;
    static thread_local std::vector<int64_t> places;
    values.resize(static_cast<size_t>(k));
    places.resize(static_cast<size_t>(k));
    for (int64_t row = 0; row < rows; ++row) {
        const float* x = logits + row * n;
        const float peak = grus::current_tier().peak(x, n);
        ids[row] = static_cast<int32_t>(peak == peak ? std::find(x, x + n, peak) - x : 0);
        if (temperature <= 0 || random[row] == 0 || peak != peak) continue;
        grus_top_k(x, 1, n, k, values.data(), places.data(), 1);
        float whole = 0.0f;
        for (float& value : values) whole += value = std::exp((value - peak) / temperature);
        int64_t kept = 0;
        float mass = 0.0f;
        while (kept < k && (kept == 0 || mass < top_p * whole)) mass += values[static_cast<size_t>(kept++)];
        const float bound = noise[row] * mass * below_one;
        int64_t at = 0;
        for (float running = values[0]; running <= bound && at + 1 < kept;) running += values[static_cast<size_t>(++at)];
        ids[row] = static_cast<int32_t>(places[static_cast<size_t>(at)]);
    }
}

}  // extern "C"
