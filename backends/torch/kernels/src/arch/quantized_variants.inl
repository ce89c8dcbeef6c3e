// The combinations of code, halves and minima that formats use, and whether such a format `is_read_as_stored`. Calls `fill` for each.
// Included after `fill`.

void fill_quantized(Tier& tier) {
    fill<Code::S8, 1, false, true>(tier);
    fill<Code::S8, 1, true, false>(tier);
    fill<Code::U4, 1, false, true>(tier);
    fill<Code::U4, 1, true, true>(tier);
    fill<Code::U5, 1, false, true>(tier);
    fill<Code::U5, 1, true, true>(tier);
    fill<Code::U6, 1, true, false>(tier);
    fill<Code::U6, 2, false, true>(tier);
    fill<Code::U3, 1, true, false>(tier);
    fill<Code::U3, 2, false, true>(tier);
    fill<Code::U2, 1, false, false>(tier);
    fill<Code::U2, 1, true, false>(tier);
    fill<Code::U2, 2, true, true>(tier);
    fill<Code::U1, 1, false, false>(tier);
    fill<Code::L4, 1, false, true>(tier);
    fill<Code::L4, 2, false, false>(tier);
    fill<Code::L3, 1, false, false>(tier);
    fill<Code::L3, 2, false, true>(tier);
}
