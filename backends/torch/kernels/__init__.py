"""Products of quantized weights on CPUs, in C++ (`src`), and how Python finds and calls them. See docs/kernels.md.

Importing this package loads nothing; `library.available()` says whether the kernels run here, and `linear.KernelLinear` is a
matrix that uses them.
"""
