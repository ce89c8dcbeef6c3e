// The kernels, written once over sixteen lanes, and the table of them. Each tier includes it after its lanes and constants.
#include "matmul/tile.inl"
#include "attention/kv_rows.inl"
#include "formats/bf16_12bit.inl"
#include "program/fused_ops.inl"
#include "program/map.inl"
#include "program/recurrence.inl"
#include "attention/decode_attention.inl"
#include "attention/prompt_attention.inl"
#include "conv/conv.inl"
#include "conv/winograd.inl"

template <Code C, int Halves, bool Minima, bool Stored>
void fill_as(TileKernel (&row)[kWidths]) {
    row[0] = quantized_tile<C, Halves, Minima, 1, Stored>;
    row[1] = quantized_tile<C, Halves, Minima, 2, Stored>;
    if constexpr (kTile >= 4) row[3] = quantized_tile<C, Halves, Minima, 4, Stored>;
    if constexpr (kTile >= 8) {
        row[2] = quantized_tile<C, Halves, Minima, 3, Stored>;
        row[4] = quantized_tile<C, Halves, Minima, 5, Stored>;
        row[5] = quantized_tile<C, Halves, Minima, 6, Stored>;
        row[6] = quantized_tile<C, Halves, Minima, 7, Stored>;
        row[7] = quantized_tile<C, Halves, Minima, 8, Stored>;
    }
}

template <Code C, int Halves, bool Minima, bool Stored>
void fill(Tier& tier) {
    fill_as<C, Halves, Minima, false>(tier.kernels[static_cast<int>(C)][Halves - 1][Minima]);
    if constexpr (Stored) {
        fill_as<C, Halves, Minima, true>(tier.stored_kernels[static_cast<int>(C)][Halves - 1][Minima]);
        auto& pairs = tier.pair_kernels[static_cast<int>(C)][Halves - 1][Minima];
        pairs[0] = stored_pair<C, Halves, Minima, 1>;
        if constexpr (kTile >= 8) {  // where there are registers for the sums of two panels
            pairs[1] = stored_pair<C, Halves, Minima, 2>;
            pairs[2] = stored_pair<C, Halves, Minima, 4>;
        }
    }
}

#include "arch/quantized_variants.inl"

template <Code C>
void fill_dense(Tier& tier) {
    auto& row = tier.kernels[static_cast<int>(C)][0][0];
    row[0] = dense_tile<C, 1>;
    row[1] = dense_tile<C, 2>;
    if constexpr (kTile >= 4) row[3] = dense_tile<C, 4>;
    if constexpr (kTile >= 8) row[7] = dense_tile<C, 8>;
}

void fill_f8(Tier& tier) {
    auto& row = tier.kernels[static_cast<int>(Code::F8)][0][0];
    row[0] = f8_tile<1>;
    row[1] = f8_tile<2>;
    if constexpr (kTile >= 4) row[3] = f8_tile<4>;
    if constexpr (kTile >= 8) row[7] = f8_tile<8>;
}

template <ScaleType T>
void fill_rows(Tier& tier, int type) {
    auto& row = tier.rows_kernels[type];
    row[0] = rows_tile<T, 1>;
    row[1] = rows_tile<T, 2>;
    if constexpr (kTile >= 4) row[3] = rows_tile<T, 4>;
    if constexpr (kTile >= 8) row[7] = rows_tile<T, 8>;
    tier.to_panel[type] = rows_to_panel<T>;
}

template <int... N>
void fill_conv(Tier& tier, std::integer_sequence<int, N...>) {
    ((tier.conv[N][0] = conv_tile<N + 1, 1>), ...);
    if constexpr (kPanels == 2) ((tier.conv[N][1] = conv_tile<N + 1, 2>), ...);
}

Tier make_tier(const char* name) {
    Tier tier{};
    tier.name = name;
    tier.tile = kTile;
    tier.stream = [](Code, int64_t) { return PanelStream{}; };
    tier.signed_bias = kSignedBias;
    tier.expand = expand_scales;
    tier.quantize = quantize_rows;
    tier.rms_norm = rms_norm_row;
    tier.layer_norm = layer_norm_row;
    tier.gelu = gelu_row;
    tier.swiglu = swiglu_row;
    tier.clamped_swiglu = clamped_swiglu_row;
    tier.geglu = geglu_row;
    tier.peak = peak_of;
    tier.mass = mass_of;
    tier.decode_attention = decode_attention;
    tier.decode_bf12 = decode_bf12_row;
    tier.store_kv = store_kv_row;
    tier.load_kv = load_kv_rows;
    tier.attention_block = attention_block;
    tier.heads = norm_rope_heads;
    tier.row_products = row_products;
    tier.map = map_rows;
    tier.recur = recur;
    fill_quantized(tier);
    fill_dense<Code::F32>(tier);
    fill_dense<Code::F16>(tier);
    fill_dense<Code::BF16>(tier);
    fill_f8(tier);
    tier.positions = kPositions;
    tier.panels = kPanels;
    tier.snake = snake_row;
    tier.moments = add_moments;
    tier.depthwise = depthwise_row;
    tier.winograd_input = winograd_input;
    tier.winograd_output = winograd_output;
    tier.block_input = block_input;
    tier.block_output = block_output;
    fill_conv(tier, std::make_integer_sequence<int, kPositions>{});
    fill_rows<ScaleType::F32>(tier, 0);
    fill_rows<ScaleType::F16>(tier, 1);
    fill_rows<ScaleType::BF16>(tier, 2);
    return tier;
}
