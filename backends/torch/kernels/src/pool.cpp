// Workers spin for a short while after each piece of work, because the next matrix of a model follows within
// microseconds, and then sleep: an idle process uses no CPU.
//
// A job is open or closed. A worker first counts itself in, then looks whether the job is open; the caller first closes
// the job, then waits for those counted in. So a worker that wakes late is never waited for, and never sees a job that
// is being changed.
#include "pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace grus {
namespace {

constexpr auto kSpin = std::chrono::microseconds(80);
// Looks before a thread that waits offers its core to others. Where there are fewer free cores than threads, the one that is
// waited for may need that very core; spinning on would cost the rest of a time slice, four milliseconds.
constexpr int kPatience = 64;

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
    asm volatile("yield");
#endif
}

struct Pool {
    std::mutex caller;  // held by the one thread whose job runs
    Work work = nullptr;
    const void* context = nullptr;
    int64_t units = 0, grain = 1;
    int allowed = 0;  // workers that may take part
    int started = 0;
    std::atomic<int64_t> next{0};
    std::atomic<bool> open{false};
    std::atomic<int> inside{0};
    std::atomic<uint64_t> round{0};
    std::atomic<int> sleeping{0};
    std::mutex bed;
    std::condition_variable wake;

    // Large pieces first, for memory is read best in one go; small ones last, so that all end together.
    void take_pieces() {
        for (int64_t begin = next.load();;) {
            const int64_t left = units - begin;
            if (left <= 0) return;
            const int64_t piece = std::min(left, std::max(grain, left / (4 * (allowed + 1))));
            if (!next.compare_exchange_weak(begin, begin + piece)) continue;
            work(context, begin, begin + piece);
            begin = next.load();
        }
    }

    void wait_for_round(uint64_t seen) {
        auto until = std::chrono::steady_clock::now() + kSpin;
        do {
            for (int i = 0; i < kPatience; ++i) {
                if (round.load() != seen) return;
                relax();
            }
            std::this_thread::yield();
        } while (std::chrono::steady_clock::now() < until);
        std::unique_lock<std::mutex> lock(bed);
        sleeping.fetch_add(1);
        wake.wait(lock, [&] { return round.load() != seen; });
        sleeping.fetch_sub(1);
    }

    [[noreturn]] void worker(int index) {
        for (uint64_t seen = 0;;) {
            wait_for_round(seen);
            seen = round.load();
            inside.fetch_add(1);
            if (open.load() && index < allowed) take_pieces();
            inside.fetch_sub(1);
        }
    }

    void run(int64_t job_units, int64_t job_grain, int threads, Work job, const void* job_context) {
        for (; started < threads - 1; ++started) std::thread(&Pool::worker, this, started).detach();
        work = job;
        context = job_context;
        units = job_units;
        grain = job_grain;
        allowed = threads - 1;
        next.store(0);
        open.store(true);
        round.fetch_add(1);
        if (sleeping.load() > 0) {
            std::lock_guard<std::mutex> lock(bed);
            wake.notify_all();
        }
        take_pieces();
        open.store(false);
        for (int i = 1; inside.load() != 0; ++i) {
            relax();
            if (i % kPatience == 0) std::this_thread::yield();
        }
    }
};

// Never destroyed: workers may outlive the statics of a process that exits. A forked child has none of its parent's
// threads, so it starts with a pool of its own.
std::atomic<Pool*> pool{nullptr};

Pool& the_pool() {
    static std::once_flag once;
    std::call_once(once, [] {
        pool.store(new Pool);
#if defined(__unix__) || defined(__APPLE__)
        pthread_atfork(nullptr, nullptr, [] { pool.store(new Pool); });
#endif
    });
    return *pool.load();
}

}  // namespace

void run_parallel(int64_t units, int64_t grain, int threads, Work work, const void* context) {
    if (units <= 0) return;
    if (threads > 1 && units > grain) {
        Pool& p = the_pool();
        std::unique_lock<std::mutex> lock(p.caller, std::try_to_lock);
        if (lock.owns_lock()) {
            p.run(units, grain, threads, work, context);
            return;
        }
    }
    work(context, 0, units);
}

}  // namespace grus
