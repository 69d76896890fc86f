"""`python -m signalbox` is the command `signalbox`."""

import sys

from signalbox.cli import main

sys.exit(main())
