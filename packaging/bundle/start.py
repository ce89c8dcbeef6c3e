"""Where a bundled Grus starts: first what a bundle lacks is made good, then the command line begins."""

import sys

from app.bundled import begin
from app.cuda_pack import use

use()
if begin(sys.argv[1:]):
    sys.exit(0)

from app.cli import main  # noqa: E402 - what it imports may be in the pack

sys.exit(main())
