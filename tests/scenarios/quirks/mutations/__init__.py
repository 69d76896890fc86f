"""The rules of the quirks, each removed in turn: the tests of its quirk must fail (`just mutate`)."""

from tests.scenarios.quirks.mutations.mutation import ROOT, Mutation, named_tests
from tests.scenarios.quirks.mutations.section_a import A
from tests.scenarios.quirks.mutations.section_b import B
from tests.scenarios.quirks.mutations.section_c import C
from tests.scenarios.quirks.mutations.section_d import D
from tests.scenarios.quirks.mutations.section_e import E
from tests.scenarios.quirks.mutations.section_f import F
from tests.scenarios.quirks.mutations.section_g import G

MUTATIONS: tuple[Mutation, ...] = (*A, *B, *C, *D, *E, *F, *G)

__all__ = ["MUTATIONS", "ROOT", "Mutation", "named_tests"]
