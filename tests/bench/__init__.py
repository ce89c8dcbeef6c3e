"""Speed and memory, against peers, in one run: `make bench`, or `python -m tests.bench [NAME ...]`.

Machines are noisy and drift. So peers run side by side in processes of their own and are measured in turn, A B A B;
what is printed is the median of each and the ratio of the medians.
"""
