// Memory as the compiler and the caches have it, for tiers whose gain by another way was not measured. Included after Bytes and Floats.

INLINE void loaded(const Bytes&) {}
INLINE void stream(float* to, const Floats& x) { store(to, x); }
INLINE void end_streams() {}
