"""Names of owners for the operator: of API tokens, and of people who have signed in."""

from collections.abc import Mapping

from signalbox.app.deps import Services
from signalbox.store.sessions import labels_of_people
from signalbox.store.tokens import list_tokens


async def names_of_owners(services: Services) -> Mapping[str, str]:
    """Return the names of all owners that are known; raises StoreError."""
    people = await services.database.read(labels_of_people)
    return people | {token.id: token.name for token in await services.database.read(list_tokens)}
