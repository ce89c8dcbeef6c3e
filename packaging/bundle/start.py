"""Where a bundled Grus starts: first what a bundle lacks is made good, then the command line begins."""

import sys

from app.bundled import begin, has_nvidia_driver

if has_nvidia_driver():
    from app.cuda_pack import use

    use()
if begin(sys.argv[1:]):
    sys.exit(0)

from app.cli import main  # after the pack is found: what it imports may be in it

sys.exit(main())
