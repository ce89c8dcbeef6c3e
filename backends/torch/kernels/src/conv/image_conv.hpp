// Convolutions of images: arguments, part of the C ABI (image_conv.py). Arrays are [images, rows, columns, channels] without gaps.
#pragma once
#include <cstdint>

namespace grus {

enum class ImageActivation : int64_t { None, Relu, Gelu, Silu };

struct ImageConv {
    const void* w;      // [panels][rows][columns][inputs][16]; rounded: [..][pairs of inputs][16][2]; depthwise: [rows][columns][inputs]
    const float* bias;  // [panels][16]; depthwise: [inputs]
    int64_t rounded;    // whether inputs are rounded to bf16, as `w` is
    int64_t inputs, outputs;
    int64_t rows, columns, row_step, column_step, row_padding, column_padding;
    int64_t activation;  // which of ImageActivation
};

struct ImageBatch {
    int64_t images, rows, columns;
    const float* x;
    const float* add;  // is added behind the activation, lies like `y`; null: nothing
    float* y;
};

}  // namespace grus
