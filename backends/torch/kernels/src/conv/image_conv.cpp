// Convolutions of images in one call, with the activation behind them and a sum. A thread takes some neighbouring positions of an output
// row: it brings the inputs that these read into a strip of its own, with zeros outside of the image, and goes through all weights, one
// row of the kernel after the other, so that a row's weights stay in the second-level cache while all positions meet them.
#include "conv/image_conv.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "arch/dispatch.hpp"
#include "common/scratch.hpp"
#include "common/thread_pool.hpp"
#include "formats/matrix.hpp"

namespace grus {
namespace {

constexpr int64_t kStrip = 1 << 18;     // bytes of inputs that a thread holds
constexpr int64_t kMostPositionsOfUnit = 96;
constexpr int64_t kUnitsOfThread = 8;   // at least, where there are as many positions: threads shall end together
constexpr int64_t kFewNumbers = 1 << 14;
constexpr float kNoBias[2 * kRows] = {};

// out = activation(x); they do not overlap.
void activate(const Tier& tier, ImageActivation activation, const float* x, int64_t n, float* out) {
    switch (activation) {
        case ImageActivation::None: std::memcpy(out, x, static_cast<size_t>(n) * 4); break;
        case ImageActivation::Relu:
            for (int64_t i = 0; i < n; ++i) out[i] = x[i] < 0.0f ? 0.0f : x[i];  // NaN stays
            break;
        case ImageActivation::Gelu: tier.gelu(x, n, out); break;
        case ImageActivation::Silu: tier.map({MapFunction::Silu, 1, n, {x, n, 1}, {x, n, 1}, out, n, 0.0f, 0.0f}); break;
    }
}

// The same of one row, and a sum.
void finish(const Tier& tier, ImageActivation activation, const float* x, const float* add, int64_t n, float* out) {
    activate(tier, activation, x, n, out);
    if (add)
        for (int64_t i = 0; i < n; ++i) out[i] += add[i];
}

// The shape of a batch. Where each output reads one position alone, all rows of all images are one.
struct Shape {
    int64_t images, rows, columns, out_rows, out_columns;

    static Shape of(const ImageConv& conv, const ImageBatch& batch) {
        const int64_t kernel = conv.rows * conv.columns, step = conv.row_step * conv.column_step;
        if (kernel == 1 && step == 1 && !conv.row_padding && !conv.column_padding) {
            const int64_t all = batch.images * batch.rows * batch.columns;
            return {1, 1, all, 1, all};
        }
        return {batch.images, batch.rows, batch.columns, (batch.rows + 2 * conv.row_padding - conv.rows) / conv.row_step + 1,
                (batch.columns + 2 * conv.column_padding - conv.columns) / conv.column_step + 1};
    }
};

struct ImageConvolution {
    const ImageConv& conv;
    const ImageBatch& batch;
    const Tier& tier;
    int threads;
    const Shape shape = Shape::of(conv, batch);
    const ImageActivation activation = static_cast<ImageActivation>(conv.activation);
    const int64_t words = conv.rounded ? (conv.inputs + 1) / 2 : conv.inputs;  // of 32 bits, an input or a pair of them
    const int64_t panels = (conv.outputs + kRows - 1) / kRows;
    const int64_t row_weights = conv.columns * words * kRows, panel_weights = conv.rows * row_weights;
    const bool as_given = !conv.rounded && !conv.row_padding && !conv.column_padding;
    const ConvKernel (*kernels)[2] = conv.rounded ? tier.bf16_conv->tile : tier.conv;

    int64_t read_columns(int64_t positions) const { return (positions - 1) * conv.column_step + conv.columns; }

    // Positions of a unit, in whole tiles.
    int64_t positions_of_unit() const {
        const int64_t held = kStrip / (conv.rows * words * 4) - conv.columns;
        int64_t most = std::min(kMostPositionsOfUnit, held / conv.column_step + 1);
        most = std::min(most, shape.images * shape.out_rows * shape.out_columns / (kUnitsOfThread * threads));
        return std::max<int64_t>((most + tier.positions - 1) / tier.positions, 1) * tier.positions;
    }

    void run() const {
        const int64_t each = positions_of_unit(), chunks = (shape.out_columns + each - 1) / each;
        const int64_t units = shape.images * shape.out_rows * chunks;
        if (units <= 0) return;
        parallel(units, 1, units > 1 ? threads : 1, [&](int64_t begin, int64_t end) {
            for (int64_t unit = begin; unit < end; ++unit) {
                const int64_t row = unit / chunks, chunk = unit % chunks;  // chunks of a row are alike
                const int64_t first = shape.out_columns * chunk / chunks;
                compute(row / shape.out_rows, row % shape.out_rows, first, shape.out_columns * (chunk + 1) / chunks - first);
            }
        });
    }

    // `count` outputs of a row of an image, from column `first`.
    void compute(int64_t image, int64_t out_row, int64_t first, int64_t count) const {
        static thread_local Scratch of_strip, of_sums;
        const int64_t wide = read_columns(count), top = out_row * conv.row_step - conv.row_padding;
        const int64_t left = first * conv.column_step - conv.column_padding;
        const float* rows[kMostRows] = {};  // what the first tap of the first position reads, of each row of the kernel; null: outside
        float* strip = as_given ? nullptr : reinterpret_cast<float*>(of_strip.at_least((conv.rows * wide * words + 2 * kRows) * 4));
        for (int64_t r = 0; r < conv.rows; ++r) {
            if (top + r < 0 || top + r >= shape.rows) continue;
            const float* from = batch.x + (image * shape.rows + top + r) * shape.columns * conv.inputs;
            if (as_given) rows[r] = from + left * conv.inputs;
            else rows[r] = read(from, left, wide, strip + r * wide * words);
        }
        const int64_t at = ((image * shape.out_rows + out_row) * shape.out_columns + first) * conv.outputs;
        float* sums = reinterpret_cast<float*>(of_sums.at_least(2 * count * tier.panels * kRows * 4));
        for (int64_t panel = 0; panel < panels; panel += tier.panels) multiply(rows, count, panel, sums, at);
    }

    // Columns left .. left + wide of an image's row, in words.
    const float* read(const float* from, int64_t left, int64_t wide, float* to) const {
        const int64_t n = conv.inputs, begin = std::clamp<int64_t>(-left, 0, wide), end = std::clamp(shape.columns - left, begin, wide);
        std::fill_n(to, begin * words, 0.0f);
        const float* x = from + (left + begin) * n;
        if (!conv.rounded) std::copy_n(x, (end - begin) * n, to + begin * n);
        else if (n % 2 == 0) round(x, (end - begin) * n, to + begin * words);
        else
            for (int64_t column = begin; column < end; ++column) round(x + (column - begin) * n, n, to + column * words);
        std::fill_n(to + end * words, (wide - end) * words, 0.0f);
        return to;
    }

    // Writes some zeros behind them, where the next numbers of a strip are written afterwards.
    void round(const float* x, int64_t n, float* to) const {
        if (n) tier.bf16->round(x, n, reinterpret_cast<uint16_t*>(to));
    }

    void multiply(const float* const* rows, int64_t count, int64_t panel, float* sums, int64_t at) const {
        const int64_t broad = std::min<int64_t>(tier.panels, panels - panel), column = panel * kRows, width = broad * kRows;
        const int64_t exist = std::min(width, conv.outputs - column);
        const float* w = static_cast<const float*>(conv.w) + panel * panel_weights;
        const bool direct = conv.rows == 1 && activation == ImageActivation::None && rows[0];
        bool begun = false;
        for (int64_t r = 0; r < conv.rows; ++r) {
            if (!rows[r]) continue;
            const int64_t tiles = (count + tier.positions - 1) / tier.positions;
            for (int64_t tile = 0; tile < tiles; ++tile) {
                const int64_t t = count * tile / tiles, many = count * (tile + 1) / tiles - t;
                const int64_t y = at + t * conv.outputs + column;
                float* sum = sums + t * width;
                const float* given = w + r * row_weights;
                ConvTile c{rows[r] + t * conv.column_step * words, given, conv.columns, words, words, conv.column_step * words,
                           panel_weights, begun ? kNoBias : conv.bias + column, begun ? sum : nullptr, sum, width, width,
                           reinterpret_cast<const uint8_t*>(given), 0};
                if (direct) {
                    c.add = batch.add ? batch.add + y : nullptr;
                    c.y = batch.y + y;
                    c.row = conv.outputs;
                    c.columns = exist;
                }
                kernels[many - 1][broad - 1](c);
            }
            begun = true;
        }
        if (direct) return;
        if (!begun)  // all of the kernel is outside
            for (int64_t i = 0; i < count; ++i) std::copy_n(conv.bias + column, width, sums + i * width);
        const float* done = sums;
        if (activation != ImageActivation::None) {
            activate(tier, activation, sums, count * width, sums + count * width);
            done += count * width;
        }
        for (int64_t i = 0; i < count; ++i, done += width) {
            const int64_t y = at + i * conv.outputs + column;
            if (!batch.add) std::memcpy(batch.y + y, done, static_cast<size_t>(exist) * 4);
            else
                for (int64_t c = 0; c < exist; ++c) batch.y[y + c] = done[c] + batch.add[y + c];
        }
    }

    static constexpr int64_t kMostRows = 64;
};

// Each channel alone.
void convolve_depthwise(const ImageConv& conv, const ImageBatch& batch, const Tier& tier, int threads) {
    const Shape shape = Shape::of(conv, batch);
    const ImageActivation activation = static_cast<ImageActivation>(conv.activation);
    const int64_t n = conv.inputs, taps = conv.rows * conv.columns, all_rows = shape.images * shape.out_rows;
    const std::vector<float> silence(static_cast<size_t>(n), 0.0f);
    parallel(all_rows, kFewNumbers / (n * taps * shape.out_columns + 1) + 1, threads, [&](int64_t begin, int64_t end) {
        std::vector<const float*> from(static_cast<size_t>(taps));
        std::vector<float> sums(static_cast<size_t>(n));
        for (int64_t row = begin; row < end; ++row) {
            const int64_t image = row / shape.out_rows, top = row % shape.out_rows * conv.row_step - conv.row_padding;
            for (int64_t column = 0; column < shape.out_columns; ++column) {
                const int64_t left = column * conv.column_step - conv.column_padding;
                for (int64_t tap = 0; tap < taps; ++tap) {
                    const int64_t y = top + tap / conv.columns, x = left + tap % conv.columns;
                    const bool inside = y >= 0 && y < shape.rows && x >= 0 && x < shape.columns;
                    from[static_cast<size_t>(tap)] = inside ? batch.x + ((image * shape.rows + y) * shape.columns + x) * n : silence.data();
                }
                const int64_t at = (row * shape.out_columns + column) * n;
                const bool direct = activation == ImageActivation::None && !batch.add;
                float* out = direct ? batch.y + at : sums.data();
                tier.depthwise(from.data(), taps, static_cast<const float*>(conv.w), conv.bias, n, out);
                if (!direct) finish(tier, activation, out, batch.add ? batch.add + at : nullptr, n, batch.y + at);
            }
        }
    });
}

}  // namespace
}  // namespace grus

using namespace grus;

extern "C" {

// Whether products of bf16 are faster than those of f32 here, in convolutions whose inputs may be rounded.
GRUS_API int32_t grus_conv_rounds() { return current_tier().bf16_conv != nullptr; }

GRUS_API void grus_image_conv(const ImageConv* conv, const ImageBatch* batch, int32_t threads) {
    ImageConvolution{*conv, *batch, current_tier(), threads}.run();
}

GRUS_API void grus_image_depthwise(const ImageConv* conv, const ImageBatch* batch, int32_t threads) {
    convolve_depthwise(*conv, *batch, current_tier(), threads);
}

}  // extern "C"
