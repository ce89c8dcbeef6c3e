// What makes this a library that Python's build tools accept, and that can be told from one of older sources. It is loaded
// by ctypes and is no extension module.
#include "matrix.hpp"

#define GRUS_TEXT(x) #x
#define GRUS_TEXT_OF(x) GRUS_TEXT(x)
#ifndef GRUS_DIGEST
#define GRUS_DIGEST unknown
#endif

extern "C" {
GRUS_API const char* grus_digest() { return GRUS_TEXT_OF(GRUS_DIGEST); }
GRUS_API void* PyInit__grus_kernels() { return nullptr; }  // Windows' linker asks for it
}
