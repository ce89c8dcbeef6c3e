// check LIBRARY FUNCTION...: loads a library of kernels, looks every function up, and holds some, in every tier that this machine has,
// against plain arithmetic.
// No Python is needed, so it runs where a wheel's own tests cannot: under qemu and wine. packaging/wheels.py compiles it.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <windows.h>
#define OPEN(path) ((void*)LoadLibraryA(path))
#define SYMBOL(library, name) ((void*)GetProcAddress((HMODULE)library, name))
#define WHY() fprintf(stderr, "error %lu\n", GetLastError())
#else
#include <dlfcn.h>
#define OPEN(path) dlopen(path, RTLD_NOW)
#define SYMBOL dlsym
#define WHY() fprintf(stderr, "%s\n", dlerror())
#endif

enum { ROWS = 64, WIDTH = 4096, TIERS = 7 };
static const double kAllowed = 1e-4;

int main(int count, char** arguments) {
    if (count < 2) return 2;
    void* library = OPEN(arguments[1]);
    if (!library) return WHY(), 1;
    for (int i = 2; i < count; i++)
        if (!SYMBOL(library, arguments[i])) return printf("there is no %s\n", arguments[i]), 1;
    const char* (*digest)(void) = SYMBOL(library, "grus_digest");
    const char* (*tier)(void) = SYMBOL(library, "grus_tier");
    int32_t (*use_tier)(int32_t) = SYMBOL(library, "grus_use_tier");
    int64_t (*struct_bytes)(int32_t) = SYMBOL(library, "grus_struct_bytes");
    void (*rms_norm)(const float*, const float*, float*, const float*, float, int64_t, int64_t, float*, int32_t) = SYMBOL(library, "grus_rms_norm");
    void (*swiglu)(const float*, int64_t, int64_t, float*, int32_t) = SYMBOL(library, "grus_swiglu");
    if (!digest || !tier || !use_tier || !struct_bytes || !rms_norm || !swiglu) return puts("missing symbol"), 1;
    printf("digest %s, %d functions, struct bytes", digest(), count - 2);
    for (int i = 0; struct_bytes(i); i++) printf(" %lld", (long long)struct_bytes(i));
    float *x = malloc(4 * ROWS * WIDTH * 2), *w = malloc(4 * WIDTH), *out = malloc(4 * ROWS * WIDTH), *out2 = malloc(4 * ROWS * WIDTH);
    uint32_t state = 1;
    for (int i = 0; i < ROWS * WIDTH * 2; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)state / 1073741824.f;
    }
    for (int i = 0; i < WIDTH; i++) w[i] = 1 + (float)(i % 7) / 7.f;
    int failures = 0, ran = 0;
    for (int asked = 0; asked < TIERS; asked++) {
        if (!use_tier(asked)) continue;  // another processor's
        ran++;
        rms_norm(x, 0, 0, w, 1e-6f, ROWS, WIDTH, out, 2);
        swiglu(x, ROWS, WIDTH, out2, 2);
        double norm_error = 0, gate_error = 0;
        for (int r = 0; r < ROWS; r++) {
            double mean = 0;
            for (int i = 0; i < WIDTH; i++) mean += (double)x[r * WIDTH + i] * x[r * WIDTH + i];
            const double factor = 1 / sqrt(mean / WIDTH + 1e-6);
            for (int i = 0; i < WIDTH; i++) {
                const double gate = x[2 * r * WIDTH + i], up = x[(2 * r + 1) * WIDTH + i];
                norm_error = fmax(norm_error, fabs(out[r * WIDTH + i] - x[r * WIDTH + i] * factor * w[i]));
                gate_error = fmax(gate_error, fabs(out2[r * WIDTH + i] - gate / (1 + exp(-gate)) * up));
            }
        }
        const int bad = !(norm_error <= kAllowed && gate_error <= kAllowed);  // NaN is bad
        failures += bad;
        printf("; %s rms_norm %.1e swiglu %.1e%s", tier(), norm_error, gate_error, bad ? " WRONG" : "");
    }
    printf("; %d tiers, %d failures\n", ran, failures);
    return failures || !ran;
}
