// Workers spin for a short while after each job, because the next matrix of a model follows within microseconds, and then sleep: an
// idle process uses no CPU.
//
// A job is open or closed. A worker first increments the counter of workers inside, then checks whether the job is open; the caller
// first closes the job, then waits until the counter is zero. So the caller never waits for a worker that wakes late, and such a
// worker never sees a job that is being changed.
#include "common/thread_pool.hpp"

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
// Looks before the caller offers its core to others, some fifty microseconds. Pieces end together within a few; so a worker
// that is waited for longer has lost its core, maybe to this very wait, and spinning on would cost the rest of a time slice.
// Offered at once, the core would go to whatever else wants it, and not come back for milliseconds.
constexpr int kPatience = 4096;

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
    asm volatile("yield");
#endif
}

constexpr int kMostThreads = 256;

// Units begin .. end that nobody has taken yet. Both in one word, so that its owner and a thief agree.
class alignas(64) Stretch {
  public:
    void set(int64_t begin, int64_t end) { both_.store(static_cast<uint64_t>(begin) << 32 | static_cast<uint64_t>(end)); }

    // Half of what is left: every piece ends in a wait for all that it reads.
    bool take(int64_t grain, int64_t& begin, int64_t& end) {
        uint64_t seen = both_.load();
        do {
            if (begin_of(seen) >= end_of(seen)) return false;
            begin = begin_of(seen);
            const int64_t left = end_of(seen) - begin;
            end = begin + std::min(left, std::max(grain, left / 2));
        } while (!both_.compare_exchange_weak(seen, seen + (static_cast<uint64_t>(end - begin) << 32)));
        return true;
    }

    // This one is empty.
    bool take_over_half_of(Stretch& other, int64_t grain) {
        uint64_t seen = other.both_.load();
        int64_t many;
        do {
            const int64_t left = end_of(seen) - begin_of(seen);
            if (left <= 0) return false;
            many = left <= grain ? left : std::max(grain, left / 2);
        } while (!other.both_.compare_exchange_weak(seen, seen - static_cast<uint64_t>(many)));
        set(end_of(seen) - many, end_of(seen));
        return true;
    }

  private:
    static int64_t begin_of(uint64_t both) { return static_cast<int64_t>(both >> 32); }
    static int64_t end_of(uint64_t both) { return static_cast<int64_t>(both & 0xffffffffu); }
    std::atomic<uint64_t> both_{0};
};

struct Pool {
    std::mutex caller;  // held by the one thread whose job runs
    Work work = nullptr;
    const void* context = nullptr;
    int64_t units = 0, grain = 1;
    int slots = 0;  // threads that may take part; the caller is the first
    int started = 0;
    Stretch stretches[kMostThreads];
    std::atomic<bool> open{false};
    std::atomic<int> inside{0};
    std::atomic<uint64_t> round{0};
    std::atomic<int> sleeping{0};
    std::mutex bed;
    std::condition_variable wake;

    // Each thread goes through a stretch of its own, in order, because memory is read best in one go; whoever is done first takes
    // the far half of what another has left. `slot` says whose stretch is one's own.
    void take_pieces(int slot) {
        for (int64_t begin, end;;) {
            while (stretches[slot].take(grain, begin, end)) work(context, begin, end);
            if (!steal(slot)) return;
        }
    }

    bool steal(int slot) {
        for (int i = 1; i < slots; ++i) {
            if (stretches[slot].take_over_half_of(stretches[(slot + i) % slots], grain)) return true;
        }
        return false;
    }

    void wait_for_round(uint64_t seen) {
        auto until = std::chrono::steady_clock::now() + kSpin;
        do {
            for (int i = 0; i < 64; ++i) {
                if (round.load() != seen) return;
                relax();
            }
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
            if (open.load() && index + 1 < slots) take_pieces(index + 1);
            inside.fetch_sub(1);
        }
    }

    void run(int64_t job_units, int64_t job_grain, int threads, Work job, const void* job_context) {
        threads = std::min(threads, kMostThreads);
        for (; started < threads - 1; ++started) std::thread(&Pool::worker, this, started).detach();
        work = job;
        context = job_context;
        units = job_units;
        grain = job_grain;
        slots = threads;
        for (int i = 0; i < slots; ++i) stretches[i].set(units * i / slots, units * (i + 1) / slots);
        open.store(true);
        round.fetch_add(1);
        if (sleeping.load() > 0) {
            std::lock_guard<std::mutex> lock(bed);
            wake.notify_all();
        }
        take_pieces(0);
        open.store(false);
        for (int i = 1; inside.load() != 0; ++i) {
            relax();
            if (i > kPatience && i % 64 == 0) std::this_thread::yield();
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
