// CPU detection, and selection of the tier at run time.
#include "arch/dispatch.hpp"

#include <atomic>
#include <initializer_list>
#include <mutex>

#include "formats/matrix.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace grus {
namespace {

std::atomic<const Tier*> current{nullptr};

#if defined(__x86_64__) || defined(_M_X64)
struct Leaf { unsigned a, b, c, d; };

Leaf leaf_of(unsigned leaf, unsigned sub) {
    Leaf r{};
#if defined(_MSC_VER)
    int regs[4];
    __cpuid(regs, 0);
    if (static_cast<unsigned>(regs[0]) < leaf) return r;
    __cpuidex(regs, static_cast<int>(leaf), static_cast<int>(sub));
    r = {static_cast<unsigned>(regs[0]), static_cast<unsigned>(regs[1]), static_cast<unsigned>(regs[2]), static_cast<unsigned>(regs[3])};
#else
    __get_cpuid_count(leaf, sub, &r.a, &r.b, &r.c, &r.d);
#endif
    return r;
}

unsigned long long enabled_state() {  // which registers the system saves; call only if OSXSAVE is set
#if defined(_MSC_VER)
    return _xgetbv(0);
#else
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (static_cast<unsigned long long>(high) << 32) | low;
#endif
}

bool has(unsigned word, int bit) { return (word >> bit) & 1; }

// Linux saves the unit's registers only for processes that prefetch.
bool may_use_amx() {
#if defined(__linux__)
    constexpr long kAskForState = 0x1023, kTileData = 18;
    static const bool granted = syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
    return granted;
#else
    return false;
#endif
}

bool cpu_supports(TierId choice) {
    Leaf one = leaf_of(1, 0), seven = leaf_of(7, 0), more = leaf_of(7, 1);
    unsigned long long state = has(one.c, 27) ? enabled_state() : 0;
    bool avx2 = (state & 0x6) == 0x6 && has(one.c, 12) && has(one.c, 28) && has(one.c, 29) && has(seven.b, 5);
    bool avx512 = avx2 && (state & 0xe6) == 0xe6 && has(seven.b, 16) && has(seven.b, 17) && has(seven.b, 30) &&
                  has(seven.b, 31) && has(seven.c, 11);
    switch (choice) {
        case TierId::Avx2: return avx2;
#if defined(GRUS_AVXVNNI_AS_AVX512)
        case TierId::AvxVnni: return avx512;
#else
        case TierId::AvxVnni: return avx2 && has(more.a, 4);
#endif
        case TierId::Avx512: return avx512;
        case TierId::Amx:
            return avx512 && (state & 0x60000) == 0x60000 && has(seven.d, 22) && has(seven.d, 24) && has(seven.d, 25) &&
                   has(more.a, 5) && may_use_amx();
        default: return false;
    }
}
#elif defined(__aarch64__) && defined(__linux__)
bool has_dot() { return (getauxval(AT_HWCAP) >> 20) & 1; }    // HWCAP_ASIMDDP
bool has_i8mm() { return (getauxval(AT_HWCAP2) >> 13) & 1; }  // HWCAP2_I8MM
bool has_bf16() { return (getauxval(AT_HWCAP2) >> 14) & 1; }  // HWCAP2_BF16
#elif defined(__aarch64__) && defined(__APPLE__)
bool sysctl_flag(const char* name) {
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value;
}
bool has_dot() { return sysctl_flag("hw.optional.arm.FEAT_DotProd"); }
bool has_i8mm() { return sysctl_flag("hw.optional.arm.FEAT_I8MM"); }
bool has_bf16() { return sysctl_flag("hw.optional.arm.FEAT_BF16"); }
#else
bool has_dot() { return false; }
bool has_i8mm() { return false; }
bool has_bf16() { return false; }
#endif

#if defined(__x86_64__) || defined(_M_X64)
bool has_bf16() { return has(leaf_of(7, 1).a, 5); }
bool is_intel() { return leaf_of(0, 0).b == 0x756e6547; }  // "Genu", of GenuineIntel
bool is_amd() { return leaf_of(0, 0).b == 0x68747541; }  // "Auth", of AuthenticAMD
bool is_zen5() {  // or later
    const unsigned one = leaf_of(1, 0).a;
    return is_amd() && (one >> 8 & 15) + (one >> 20 & 255) >= 0x1a;  // the family
}
#else
bool is_intel() { return false; }
bool is_amd() { return false; }
bool is_zen5() { return false; }
bool cpu_supports(TierId choice) {
    return (choice == TierId::Neon && has_dot()) || (choice == TierId::I8mm && has_dot() && has_i8mm());
}
#endif

// Intel's cores read two panels side by side with software prefetch 2 KB ahead up to twice as fast as one panel after the other.
constexpr int64_t kAhead = 2048, kFarAhead = 1536, kPanelsAhead = 6144;

PanelStream intel_stream(Code, int64_t) { return {kAhead, true}; }

// On AMD's Zen 4 a core's window of instructions reaches far enough ahead of what it computes for a few tokens, as long as lines are loaded in
// order: asking for each line once more, into the first cache, costs a third. Of many tokens it does not reach: then that gives up to half as
// much again. A line in two asked for into the second cache, which fetches by twos, gives 1 to 6 % for few tokens.
PanelStream zen4_stream(Code code, int64_t tokens) {
    if (code >= Code::F32) return {};
    const int64_t fewest = code == Code::S8 ? 8 : 4;  // tokens
    if (tokens >= fewest) return {kAhead};
    return {kFarAhead, false, Prefetch::FarCodes};
}

// Zen 5 computes faster than its memory gives, if lines are asked for in the very order in which they lie. A block's codes and scales are read in
// turns, from two regions or more, and asked for like this they cost a fifth.
PanelStream zen5_stream(Code code, int64_t) {
    if (code >= Code::F32) return {};
    return {kPanelsAhead, false, Prefetch::Panels};
}

// Tuning of memory access by vendor.
const Tier* tuned_for_vendor(const Tier* tier, TierId choice) {
    const bool zen = is_amd() && choice == TierId::Avx512;
    if (!tier || !(zen || is_intel())) return tier;
    Tier* more = new Tier(*tier);  // one a tier, for ever
    more->stream = !zen ? intel_stream : is_zen5() ? zen5_stream : zen4_stream;
    more->every_width = zen;
    more->kv_near = zen && is_zen5();
    if (!zen) more->ahead = kAhead;
    return more;
}

// The AVX-512 tier with optional extensions.
const Tier* avx512_with(const char* name, const Bf16Kernels* bf16, const MatrixUnit* unit) {
    Tier* more = new Tier(*avx512_tier());  // one a tier, for ever
    more->name = name;
    more->bf16 = bf16;
    more->unit = unit;
    // Intel's vector units multiply bf16 at half the rate of f32.
    more->bf16_conv = bf16 && !is_intel() ? bf16->conv : nullptr;
    more->bf16_attention = bf16 && !is_intel() ? bf16_attention_avx512() : nullptr;
    return more;
}

const Tier* avx512_built() {
    static const Tier* tier = has_bf16() ? avx512_with("avx512", bf16_avx512(), nullptr) : avx512_tier();
    return tier;
}

const Tier* amx_built() {
    static const Tier* tier = amx_unit() && bf16_avx512() ? avx512_with("amx", bf16_avx512(), amx_unit()) : nullptr;
    return tier;
}

const Tier* i8mm_built() {
    if (!neon_tier()) return nullptr;
    static const Tier* tier = [] {
        Tier* more = new Tier(*neon_tier());
        more->name = "i8mm";
        more->bf16 = has_bf16() ? bf16_neon() : nullptr;
        use_i8mm(*more);
        return more;
    }();
    return tier;
}

const Tier* build_tier(TierId choice) {
    switch (choice) {
        case TierId::Scalar: return scalar_tier();
        case TierId::Avx2: return avx2_tier();
        case TierId::AvxVnni: return avxvnni_tier();
        case TierId::Avx512: return avx512_built();
        case TierId::Neon: return neon_tier();
        case TierId::Amx: return amx_built();
        case TierId::I8mm: return i8mm_built();
        default: return nullptr;
    }
}

const Tier* tier_of(TierId choice) {
    static std::mutex one_at_a_time;
    static const Tier* tiers[static_cast<int>(TierId::Count)];
    std::lock_guard<std::mutex> lock(one_at_a_time);
    const Tier*& tier = tiers[static_cast<int>(choice)];
    if (!tier) tier = tuned_for_vendor(build_tier(choice), choice);
    return tier;
}

}  // namespace

const Tier* tier_if_supported(TierId choice) {
    return choice == TierId::Scalar || cpu_supports(choice) ? tier_of(choice) : nullptr;
}

TierId best_tier() {
    for (TierId choice : {TierId::Amx, TierId::Avx512, TierId::AvxVnni, TierId::Avx2, TierId::I8mm, TierId::Neon}) {
        if (tier_if_supported(choice)) return choice;
    }
    return TierId::Scalar;
}

const Tier& current_tier() {
    const Tier* t = current.load(std::memory_order_acquire);
    if (!t) current.store(t = tier_if_supported(best_tier()), std::memory_order_release);
    return *t;
}

}  // namespace grus

using namespace grus;

extern "C" {

GRUS_API const char* grus_tier() { return current_tier().name; }

// False where this machine does not run that tier. Negative: the best one.
GRUS_API int32_t grus_use_tier(int32_t choice) {
    if (choice >= static_cast<int32_t>(TierId::Count)) return 0;
    const Tier* t = tier_if_supported(choice < 0 ? best_tier() : static_cast<TierId>(choice));
    if (t) current.store(t, std::memory_order_release);
    return t != nullptr;
}

}  // extern "C"
