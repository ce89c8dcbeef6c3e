// 16 x 16 transpose of 32-bit words. Included by the AMX files inside their anonymous namespaces.

// Sixteen rows of sixteen words become columns.
INLINE void transpose_16x16(__m512i (&v)[16]) {
    __m512i a[16], b[16];
    unrolled<8>([&](auto i) INLINE_LAMBDA {
        constexpr int n = 2 * decltype(i)::value;
        a[n] = _mm512_unpacklo_epi32(v[n], v[n + 1]);
        a[n + 1] = _mm512_unpackhi_epi32(v[n], v[n + 1]);
    });
    unrolled<4>([&](auto i) INLINE_LAMBDA {
        constexpr int n = 4 * decltype(i)::value;
        b[n] = _mm512_unpacklo_epi64(a[n], a[n + 2]);
        b[n + 1] = _mm512_unpackhi_epi64(a[n], a[n + 2]);
        b[n + 2] = _mm512_unpacklo_epi64(a[n + 1], a[n + 3]);
        b[n + 3] = _mm512_unpackhi_epi64(a[n + 1], a[n + 3]);
    });
    unrolled<4>([&](auto i) INLINE_LAMBDA {  // b[4 * g + i]: words i, 4 + i, 8 + i and 12 + i of rows 4 * g ... 4 * g + 3
        constexpr int n = decltype(i)::value;
        const __m512i even = _mm512_shuffle_i32x4(b[n], b[4 + n], 0x88), odd = _mm512_shuffle_i32x4(b[n], b[4 + n], 0xdd);
        const __m512i even2 = _mm512_shuffle_i32x4(b[8 + n], b[12 + n], 0x88), odd2 = _mm512_shuffle_i32x4(b[8 + n], b[12 + n], 0xdd);
        v[n] = _mm512_shuffle_i32x4(even, even2, 0x88);
        v[8 + n] = _mm512_shuffle_i32x4(even, even2, 0xdd);
        v[4 + n] = _mm512_shuffle_i32x4(odd, odd2, 0x88);
        v[12 + n] = _mm512_shuffle_i32x4(odd, odd2, 0xdd);
    });
}
