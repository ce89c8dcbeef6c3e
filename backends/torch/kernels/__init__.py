"""CPU kernels in C++ (`src`) for matrix products, attention, convolutions and sampling, and their Python side. See docs/kernels.md.

Importing this package loads no library. `library.available()` returns whether the kernels run on this machine; `linear.KernelLinear`
is a matrix that uses them.
"""
