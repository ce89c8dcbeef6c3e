// Entry points that identify the library: the hash of its sources, and the sizes of the structs of the C ABI. It is loaded by ctypes;
// `PyInit` exists only for Python's build tools.
#include "arch/tier.hpp"
#include "codec/codec_frame.hpp"
#include "conv/conv.hpp"
#include "conv/image_conv.hpp"
#include "formats/dequantizers.hpp"
#include "formats/matrix.hpp"
#include "mixture/mixture.hpp"
#include "program/decode_step.hpp"
#include "program/program.hpp"
#include "sampling/sample.hpp"
#include "sampling/shortlist.hpp"

#define GRUS_TEXT(x) #x
#define GRUS_TEXT_OF(x) GRUS_TEXT(x)
#ifndef GRUS_DIGEST
#define GRUS_DIGEST unknown
#endif

extern "C" {
GRUS_API const char* grus_digest() { return GRUS_TEXT_OF(GRUS_DIGEST); }
// Of the structs that Python fills, in the order of library.py's STRUCTS; 0 behind the last.
GRUS_API int64_t grus_struct_bytes(int32_t which) {
    const size_t sizes[] = {sizeof(GrusStoredRows), sizeof(GrusMatrix), sizeof(grus::AffineParts), sizeof(grus::Heads),
                            sizeof(grus::AttentionBlock), sizeof(grus::Instruction), sizeof(grus::ProgramStep), sizeof(grus::CodecFrame),
                            sizeof(grus::Conv), sizeof(grus::ConvChunk), sizeof(GrusBf12), sizeof(GrusShortlist), sizeof(GrusSampler), sizeof(GrusMixture),
                            sizeof(grus::ImageConv), sizeof(grus::ImageBatch), sizeof(grus::PositionTable), sizeof(grus::DecodeStep)};
    return which < static_cast<int32_t>(sizeof sizes / sizeof *sizes) ? static_cast<int64_t>(sizes[which]) : 0;
}
GRUS_API void* PyInit__grus_kernels() { return nullptr; }  // Windows' linker asks for it
}
