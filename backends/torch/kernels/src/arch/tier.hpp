// The interface of a tier (the kernels of one instruction set): a table of function pointers, and their arguments.
#pragma once
#include <algorithm>
#include <limits>

#include "attention/kv_rows.hpp"
#include "conv/winograd.hpp"
#include "formats/bf16_12bit.hpp"
#include "formats/layout.hpp"

namespace grus {

// Activations of a run of tokens, quantized. Tokens are grouped in tiles; a tile of n tokens whose first is token t
// begins at t * columns in `codes` and holds, block after block, n times 32 codes. `notes` is laid out alike, with
// 1 + 2 * halves words a token and block: the scale (float), then per half where an integer sum starts (int32: -offset times
// the sum of codes), then per half what a minimum is multiplied with (float: scale times the sum of codes).
struct Activations {
    int8_t* codes;
    float* notes;
};

constexpr int notes_per_block(int halves) { return 1 + 2 * halves; }

// What software prefetch asks for. Panels: all of them, scales too, in the order of their addresses.
enum class Prefetch : int32_t { Codes, FarCodes, Panels };  // FarCodes: every other line of codes, into the second-level cache

struct Tile {  // one panel times one tile of tokens
    const uint8_t* codes;
    const float* scales;  // [blocks * halves][16], or [blocks * halves][2][16] with minima; of a stored kernel:
    const uint8_t* panel;  // the panel, whose scales are read as they are stored
    const Panel* layout;
    Activations act;      // of this tile
    const float* dense;   // activations of a dense format, [columns][n]
    int64_t blocks;
    const int8_t* values;  // of a table format
    int64_t ahead;         // prefetch distance in bytes; 0: the data is in a cache
    Prefetch prefetch;
    float* out;            // [n][16]
};

using TileKernel = void (*)(const Tile&);
using PairKernel = void (*)(const Tile&, const Tile&);
constexpr int kWidths = 8;  // most tokens of a tile; there are tiles of 1, 2, 4 and 8

struct Rows {  // up to sixteen rows as they lie in a file, times a few tokens
    const uint8_t* data;
    int64_t row_bytes, rows, columns;
    bool streamed;  // rows come from memory, else from a cache
    int64_t ahead;  // of a streamed row, see Tile
    const float* x;
    const uint16_t* x16;  // the same rounded to bf16, padded with zeros to whole blocks (of 12 bits, where rows are such)
    int64_t x_token;      // from one token to the next, in either
    float* out;           // [n][16]
    const uint8_t* bases;  // of 12-bit rows: see GrusBf12; else null
    const GrusBf12Outlier *outliers, *outliers_end;
};
using RowsKernel = void (*)(const Rows&);

// A few positions of a convolution times one or two panels of sixteen outputs, f32. Strides count elements.
struct ConvTile {
    const float *x, *w;         // weights [taps][inputs][16] a panel
    int64_t taps, inputs, tap;  // `tap`: from the input of one tap to that of the next
    int64_t position, panel;    // from one position or panel to the next
    const float *bias, *add;    // of these outputs; what is added to `y` and lies like it, or null
    float* y;
    int64_t row, columns;       // from one position's outputs to the next one's; of these panels as many outputs exist
    const uint8_t* prefetch;         // what to prefetch meanwhile, from each panel's place
    int64_t prefetch_bytes;          // and how much of it for each input
};
using ConvKernel = void (*)(const ConvTile&);
constexpr int kMostPositions = 12;

// Convolutions whose inputs and weights are pairs of bf16, each a word of a ConvTile.
struct Bf16ConvKernels {
    ConvKernel tile[kMostPositions][2];  // [positions - 1][panels - 1]
    // The values of six rows of inputs at six points, `point` words apart; `n` a multiple of 32.
    void (*block_input)(const float* const* rows, int64_t n, float* to, int64_t point);
};

// bf16 weights by an instruction that multiplies bf16: activations are rounded to bf16, sums are f32.
struct Bf16Kernels {
    void (*round)(const float* x, int64_t columns, uint16_t* to);
    RowsKernel rows[kWidths];
    RowsKernel bf12[kWidths];  // of 12-bit rows; null: they are made bf16 first
    const Bf16ConvKernels* conv;  // null: none
};

// A matrix unit computes sixteen rows times up to sixteen tokens at a time. Activations of quantized weights are a tile of
// tokens; those of bf16 weights are laid out by `arrange`: [columns / 32][16 pairs of columns][16 tokens][2], padded with zeros.
constexpr int kUnitTokens = 16;
constexpr int kUnitPair = 8;   // tokens that meet two panels side by side
constexpr int kUnitMost = 64;  // tokens that share a load of bf16 weights

struct UnitTile {
    const uint8_t* bytes;  // a panel's codes without their offset: [blocks][8][16 rows][4]
    const float* scales;
    const uint8_t* panel;  // see Tile
    const Panel* layout;
    Activations act;
    int64_t blocks;
    const uint8_t* prefetch;  // what to prefetch meanwhile, `prefetch_bytes` a block; null: nothing
    int64_t prefetch_bytes;
    float* out;  // [tokens][16]
};

struct UnitRows {
    const uint8_t* data;  // sixteen rows of whole blocks
    int64_t row_bytes, blocks;
    const uint8_t* next;  // what will be read after these, as many bytes; null: nothing
    const uint16_t* x;
    int64_t x_tile;  // from sixteen tokens to the next
    int tokens;      // up to kUnitMost
    float* out;      // [tokens][16]
    // Where rows are in 12-bit bf16 (see GrusBf12), perhaps fewer than sixteen; else null.
    const uint8_t* bases;
    int64_t rows;
    const GrusBf12Outlier *outliers, *outliers_end;
    uint16_t* room;  // for a panel of bf16
};

// A convolution of f32, whose numbers are the sums of two bf16 each: a high half and what it leaves, the low half.
struct UnitRow {  // one position's inputs, their scale and shift, and the snake they then go through (null: none)
    const float *x, *scale, *shift, *rate, *size;
    int64_t inputs;
};

struct UnitConv {  // one or two panels of sixteen outputs times any number of positions
    const uint16_t* x;            // what the first position's first tap reads
    int64_t row, low, tap;        // from a position to the next, from high halves to low ones, from a tap to the next
    int64_t blocks, taps;         // 32 inputs a block
    const uint16_t* w;            // [blocks][taps][high, low][panels][16 pairs of inputs][16][2]
    int64_t panels, positions;
    const float *bias, *add;      // [outputs], and [positions, outputs] or null
    float* y;                     // [positions, outputs]
    int64_t column, outputs;      // the first output of these panels, and all
};

struct UnitConvKernels {
    void (*snake)(const UnitRow&, float* to);
    void (*split)(const UnitRow&, int64_t low, uint16_t* to);  // `low` a multiple of 32; zeros where there are no inputs
    void (*convolve)(const UnitConv&);
};

// f32 by a unit that multiplies bf16. A number is the sum of three of these, to its last bit: a high, a middle and a low third.
// A product is the sum of six of theirs; what is left out is below 2^-23 of it, so a sum is as exact as one of f32 products.
// Thirds of 32 columns of sixteen rows lie together, [3][16][32]; those of weights with the columns in pairs, [3][16][16 rows][2].
constexpr int64_t kBf16x3Part = 16 * kBlock, kBf16x3Block = 3 * kBf16x3Part;

struct UnitFloats {  // sixteen rows of f32, of which `rows` exist
    const float* from;
    int64_t stride, rows, columns;
};

struct UnitBf16x3 {  // one or two times sixteen tokens with one or two panels of sixteen outputs
    const uint16_t *x, *w;
    int64_t x_tile, w_panel;  // from sixteen tokens to the next, from a panel to the next
    int64_t tiles, panels;
    int64_t blocks;           // of columns
    const float* bias;        // of these outputs
    bool first;               // begin with the bias, else with what `y` holds
    float* y;                 // room for whole tiles and panels
    int64_t y_stride;
};

struct UnitBf16x3Kernels {
    void (*split)(const UnitFloats&, uint16_t* to);  // tokens, [columns / 32, rounded up] times bf16x3; zeros where there is nothing
    void (*split_transposed)(const UnitFloats&, uint16_t* to);   // weights
    void (*multiply)(const UnitBf16x3&);
};

// Prompts of quantized weights: what a panel's codes stand for is rounded to bf16, as are activations, and sums are f32. Both
// roundings together are a third of what eight bits an activation cost; and a sum stays in the unit until it is whole.
struct UnitWeights {  // blocks of one panel
    const uint8_t* codes;
    const float* scales;  // see Tile
    int64_t blocks;
    int halves, minima, offset;
    const int8_t* values;
};

struct UnitPrompt {  // one or two times sixteen tokens with one or two panels
    const uint16_t *x, *w;    // [blocks][16 tokens][32 columns]; [blocks][16 pairs of columns][16 rows][2]
    int64_t x_tile, w_panel;  // from sixteen tokens to the next, from a panel to the next
    int64_t tiles, panels;
    int64_t blocks;
    const float* bias[2];     // of each panel
    bool first;               // begin with the bias, else with what `y` holds
    float* y[2];              // of each panel, room for whole tiles
    int64_t y_stride;
};

struct UnitPromptKernels {
    void (*round)(const UnitFloats&, uint16_t* to);  // tokens; zeros where there is nothing
    void (*weigh[static_cast<int>(Code::Count)])(const UnitWeights&, uint16_t* to);
    void (*multiply)(const UnitPrompt&);
};

struct MatrixUnit {
    void (*begin)(int bytes, int tokens);  // on the thread that will compute: how many bytes of a row an instruction takes
    void (*end)();
    void (*unpack[static_cast<int>(Code::Count)])(const uint8_t* codes, int64_t blocks, int offset, const int8_t* values,
                                                  uint8_t* to);
    void (*multiply[2][2][2])(const UnitTile&);  // sixteen tokens: [signed][halves - 1][minima]
    void (*few[2][2])(const UnitTile&);          // of bytes as they are stored: [scales as stored][4 or 8 tokens]
    void (*pair)(const UnitTile&, const UnitTile&);  // two panels of these, kUnitPair tokens
    void (*arrange)(const float* x, int64_t stride, int tokens, int64_t columns, uint16_t* to);
    void (*rows)(const UnitRows&);
    const UnitConvKernels* conv;
    const UnitBf16x3Kernels* bf16x3;
    const UnitPromptKernels* prompts;
};

// Attention of one new token to `tokens` of its sequence, the heads of queries that share one of keys.
struct DecodeAttention {
    const float* q;  // [heads][dim]
    KVRows k, v;
    int64_t tokens, heads, dim;
    float scale;
    float* out;  // [heads][dim]
    int64_t ahead;  // prefetch distance in bytes; 0: lines of the next rows that stay in a cache are asked for
    bool near;      // these go into the first cache, not the second
    const float* sinks;  // [heads]: scores that take part in the softmax and have no value; null: none
};
constexpr int64_t kKVTile = 64;  // kept rows that several heads read one after the other: they stay in the nearest cache
constexpr int64_t registers_of(int64_t dim) { return (dim + kRows - 1) / kRows; }
constexpr int64_t decode_attention_scratch(int64_t heads, int64_t tokens, int64_t dim) {  // floats
    return (heads * (registers_of(tokens) + 2 * registers_of(dim) + 3) + kKVTile * registers_of(dim)) * kRows;
}

constexpr int64_t row_products_scratch(int64_t dim) { return registers_of(dim) * kRows; }  // floats

// The query and key heads of one token's projections, normalized and rotary_dim where they lie.
struct Heads {
    int64_t heads, kv_heads, dim;
    const float *q_norm, *k_norm;  // null: not normalized
    float eps;
    int64_t rotary_dim;            // dimensions of a head that are rotary_dim; 0: none
    bool pairs;                // neighbours turn together, else the two halves
    bool norm_after_rope;
};

// The second part of scores by distance: queries times a key for how far they are behind a token. Null: there is none.
struct DistanceScores {
    const float* keys = nullptr;  // of distance 0; those of 1, 2, ... lie before it, those of tokens ahead behind it
    const float *content = nullptr, *position = nullptr;  // are added to queries: for keys, for distances
};

// Attention of up to sixteen successive tokens of one sequence with the heads that share one of keys. Strides count elements.
struct AttentionBlock {
    const float* q;  // heads lie one behind the other, as they do in `out`
    int64_t q_token;
    const float *k, *v;
    int64_t k_token, v_token, dim, v_dim;  // both at least 16
    int64_t queries, past;                 // query i sees tokens .. past + i
    int64_t window;                        // and of these the last `window`; 0: all
    int64_t ahead, end;                    // and so many behind these, as far as there are: tokens .. end
    float scale;
    float* out;
    int64_t out_token;
    const float* sink;  // of each head a score that takes part in the softmax and has no value; null: none
    int64_t heads;      // at most kMostHeads
    const KVRows *kept_k, *kept_v;  // in place of `k` and `v`: rows of the KV cache, without a gap; null: none
    DistanceScores distances;       // of one head
};
constexpr int64_t kMostHeads = 4;  // that go through keys and values together
constexpr int64_t attention_block_scratch(int64_t heads, int64_t dim) {  // floats; `dim`: the wider one
    return heads * (2 * dim + kRows + kKVTile) * kRows + kKVTile * dim + (dim + kKVTile + kRows) * kRows;
}

// Attention of a head of an encoder in pairs of bf16, of up to sixteen successive tokens. Strides count elements.
struct Bf16Block {
    const float* q;
    int64_t q_token;
    const uint16_t *k, *v;  // as they were brought
    int64_t dim, queries, past, window, ahead, end;  // see AttentionBlock
    float scale;
    float* out;
    int64_t out_token;
};
struct Bf16Attention {
    // Rounds the keys and values of `tokens`, an even number of at least sixteen a head: keys [tokens][dim], values [tokens / 2][dim][2], both
    // padded with zeros to `bf16_attention_tokens`.
    void (*bring)(const float* k, const float* v, int64_t stride, int64_t tokens, int64_t dim, uint16_t* k16, uint16_t* v16);
    void (*attend)(const Bf16Block&, float* scratch);
};
constexpr int64_t kBf16Keys = 128;  // whose scores are kept at once
constexpr int64_t bf16_attention_tokens(int64_t tokens) { return (tokens + kRows - 1) / kRows * kRows; }
constexpr int64_t bf16_attention_scratch(int64_t dim) {  // floats
    return (bf16_attention_tokens(dim) + kBf16Keys + dim / 2 + kBf16Keys / 2) * kRows;
}

// Functions of one number, or of two; `Sum` makes one number of a row.
enum class MapFunction : int32_t {
    Add, Subtract, Multiply, Divide, Affine, Clamp, Silu, Sigmoid, Tanh, GeluTanh, Relu, Softplus, Exp, Sqrt, Sum
};

// Rows of numbers, `apart` from row to row and `step` from number to number; either may be 0.
struct MapOperand { const float* from; int64_t apart, step; };
struct MapRows {
    MapFunction function;
    int64_t rows, count;
    MapOperand a, b;
    float* out;  // without gaps in a row
    int64_t out_apart;
    float scale, shift;  // of Affine; the bounds of Clamp
};

// A delta rule, or a scan (without `beta`), of one value head and successive tokens of a sequence; see `Cache.delta` in base.py.
struct Recurrence {
    const float *q, *k, *v, *g, *beta;
    int64_t q_token, k_token, v_token, g_token, beta_token;  // from one token to the next
    int64_t tokens, key_dim, value_dim;
    const float* before;  // [key_dim][value_dim]
    float* after;         // may be the same
    float* out;
    int64_t out_token;
    float* room;  // `recurrence_scratch` of them
};
constexpr int64_t kFewSteps = 8, kFewStepsColumns = 128;  // tokens that find their state in no cache, and columns that go through them at once
constexpr int64_t recurrence_scratch(int64_t key_dim) { return key_dim * kFewStepsColumns; }  // floats

// Four positions of a convolution by points times a panel of outputs (winograd.hpp). Strides count elements.
struct WinogradOutputs {
    const float* products;  // at each point, `point` apart
    int64_t point;
    const float *bias, *add;
    float* y;
    int64_t next, outputs, columns;  // from one output to the next in `y` and `add`; as many of these exist, and of the panel
};

// How panels are best read out of memory.
struct PanelStream {
    int64_t ahead = 0;      // prefetch distance from a block's codes in bytes; 0: no software prefetch
    bool in_pairs = false;  // whether two panels are read side by side
    Prefetch prefetch = Prefetch::Codes;
};

struct Tier {
    const char* name;
    int tile;         // most tokens of a tile
    bool every_width; // whether quantized tiles of 3, 5, 6 and 7 tokens are used too
    int64_t ahead;    // best prefetch distance for rows as they are stored, in bytes; 0: no software prefetch
    bool kv_near;     // see DecodeAttention
    PanelStream (*stream)(Code, int64_t tokens);  // of panels of these codes that so many tokens share
    int signed_bias;  // what this tier adds to signed codes to make them unsigned
    TileKernel kernels[static_cast<int>(Code::Count)][2][2][kWidths];  // [code][halves - 1][minima][tokens - 1]
    TileKernel stored_kernels[static_cast<int>(Code::Count)][2][2][kWidths];  // the same, of formats that `is_read_as_stored`
    PairKernel pair_kernels[static_cast<int>(Code::Count)][2][2][3];  // of those, two panels times 1, 2 or 4 tokens; may be null
    RowsKernel rows_kernels[3][kWidths];  // [f32, f16, bf16][tokens - 1]
    // Rows become a panel of floats, [columns, padded][16], with zeros where there are none.
    void (*to_panel[3])(const Rows&, int64_t padded, float* to);
    // A 12-bit row becomes one of bf16; `blocks` of 128 columns, all of them written.
    void (*decode_bf12)(const uint8_t* row, int base, int64_t blocks, int64_t ahead, uint16_t* to);
    const Bf16Kernels* bf16;  // null: this CPU has no such instruction
    const Bf16Attention* bf16_attention;  // null: it has none, or one that is no faster than f32
    const MatrixUnit* unit;   // null: this CPU has none
    void (*expand)(const Format&, const Panel&, const uint8_t* panel, float* scales);
    // Quantizes `n` rows of x into a tile; `rows` says which (null: 0, 1, ...).
    void (*quantize)(const float* x, int64_t stride, const int64_t* rows, int n, int64_t columns, int halves, int offset,
                     const Activations& tile);
    float (*peak)(const float* x, int64_t n);
    float (*mass)(const float* x, int64_t n, float best, float rate);
    // sum = x + residual (unless null), out = sum / rms(sum) * w, for one row.
    void (*rms_norm)(const float* x, const float* residual, float* sum, const float* w, float eps, int64_t n, float* out);
    // out = (x - mean) / deviation * w + b, for one row; b may be null.
    void (*layer_norm)(const float* x, const float* w, const float* b, float eps, int64_t n, float* out);
    // out = silu(gates) * up, for one row.
    void (*swiglu)(const float* gates, const float* up, int64_t n, float* out);
    // out = (up + 1) * g * sigmoid(alpha * g), with g the gate but at most `limit`, and up at most so far from zero, for one row.
    void (*clamped_swiglu)(const float* gates, const float* up, float alpha, float limit, int64_t n, float* out);
    // out = gelu(gates) * up, by the tangent, for one row.
    void (*geglu)(const float* gates, const float* up, int64_t n, float* out);
    // out = gelu(x), by the error function, for one row.
    void (*gelu)(const float* x, int64_t n, float* out);
    // `cos` and `sin` of this token; `sin` carries the sign of each dimension's partner.
    void (*heads)(const Heads&, float* row, const float* cos, const float* sin);
    void (*attention_block)(const AttentionBlock&, float* scratch);
    // Products of each row with x; or, `transposed`, the sum of the rows, each times its number of x. Floats of 16 bits or 32.
    void (*row_products)(const KVRows& rows, int64_t count, bool transposed, const float* x, float* out, float* scratch);
    void (*map)(const MapRows&);
    void (*recur)(const Recurrence&);
    int positions, panels;  // most of a ConvTile
    ConvKernel conv[kMostPositions][2];  // [positions - 1][panels - 1]
    const Bf16ConvKernels* bf16_conv;    // where pairs of bf16 are faster; null: they are not
    // The values of ten rows of inputs at ten points, `point` apart.
    void (*winograd_input)(const float* const* rows, int64_t n, float* to, int64_t point);
    void (*winograd_output)(const WinogradOutputs&);
    // The same of six rows at six points.
    void (*block_input)(const float* const* rows, int64_t n, float* to, int64_t point);
    void (*block_output)(const WinogradOutputs&);
    // One position of each channel's own kernel: out = b + the sum over taps of rows[tap] * w[tap], w [taps][n].
    void (*depthwise)(const float* const* rows, int64_t taps, const float* w, const float* b, int64_t n, float* out);
    // out = x + sin(x * rate)^2 * size, for one row.
    void (*snake)(const float* x, const float* rate, const float* size, int64_t n, float* out);
    // Adds the sums of x - pivot and of its squares, over `rows` of n channels, to `sums` and `squares`.
    void (*moments)(const float* x, int64_t rows, int64_t n, const float* pivot, double* sums, double* squares);
    void (*decode_attention)(const DecodeAttention&, float* scratch);
    void (*store_kv)(const float* x, const KVRows& to);  // one row
    void (*load_kv)(const KVRows&, int64_t rows, float* out);
};

const Bf16Kernels* bf16_avx512();  // null where this build has none
const Bf16Kernels* bf16_neon();
const Bf16Attention* bf16_attention_avx512();
const MatrixUnit* amx_unit();
const UnitConvKernels* amx_conv();
const UnitBf16x3Kernels* amx_bf16x3();
const UnitPromptKernels* amx_prompts();
void use_i8mm(Tier& neon);  // gives that tier the kernels of CPUs that multiply two rows of bytes by two at once

const Tier* scalar_tier();
const Tier* avx2_tier();     // null where this build has no such tier
const Tier* avxvnni_tier();
const Tier* avx512_tier();
const Tier* neon_tier();

}  // namespace grus
