// Readers of GGUF's types whose codes name entries of a grid, groups of four or eight weights. A weight becomes the index of its value
// in `values_of`: an index of the grid, and a sign in the highest bit.
#pragma once
#include <cstdint>

#include "formats/dequantizers.hpp"

namespace grus {

// Steps `2 s + 1` of a block's halves come from four bits each, or three. `p` is a super-block, `j` which of its blocks.
void read_iq2_xxs(const uint8_t* p, int j, Block& out);
void read_iq2_xs(const uint8_t* p, int j, Block& out);
void read_iq2_s(const uint8_t* p, int j, Block& out);
void read_iq3_xxs(const uint8_t* p, int j, Block& out);
void read_iq3_s(const uint8_t* p, int j, Block& out);
void read_iq1_s(const uint8_t* p, int j, Block& out);
void read_iq1_m(const uint8_t* p, int j, Block& out);

}  // namespace grus
