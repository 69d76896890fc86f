"""All hostile responses by name; `size` is in bytes, or in the unit that a shape counts."""

from tests.support.hostile.calls import CALLS
from tests.support.hostile.details import DETAILS
from tests.support.hostile.frames import FRAMES
from tests.support.hostile.shape import Shape
from tests.support.hostile.texts import TEXTS
from tests.support.hostile.whole_bodies import WHOLE_BODIES

SHAPES: dict[str, Shape] = FRAMES | TEXTS | CALLS | DETAILS | WHOLE_BODIES
