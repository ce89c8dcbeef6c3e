// The thread pool of the process, and `parallel`, which runs a loop on it.
#pragma once
#include <cstdint>

namespace grus {

using Work = void (*)(const void* context, int64_t begin, int64_t end);

// Runs work over [0, units) in pieces of `grain` or more, on the calling thread and on up to threads - 1 workers. Returns when
// all is done. Called while another thread is inside, it runs alone on the caller's.
void run_parallel(int64_t units, int64_t grain, int threads, Work work, const void* context);

template <class F>
void parallel(int64_t units, int64_t grain, int threads, const F& body) {
    run_parallel(units, grain, threads,
                 [](const void* f, int64_t begin, int64_t end) { (*static_cast<const F*>(f))(begin, end); }, &body);
}

}  // namespace grus
