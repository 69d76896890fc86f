"""Names of files that Windows, macOS and Linux can all store, as downloaded archives need them."""

import re
import unicodedata

_FORBIDDEN = frozenset('<>:"|?*')
_DEVICE = re.compile(r"con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]", re.IGNORECASE)


def is_device(name: str) -> bool:
    """Return whether a name, with any ending, stands for a device on Windows, such as aux.txt."""
    return _DEVICE.fullmatch(name.partition(".")[0].rstrip()) is not None


def unportable_part(path: str) -> str:
    """Return why Windows cannot store a path, naming the part; empty for a path that every system can store."""
    for part in path.split("/"):
        if found := sorted(_FORBIDDEN.intersection(part)):
            return f"{part!r} contains {found[0]}"
        if part.endswith((".", " ")):
            return f"{part!r} ends with a dot or a space"
        if is_device(part):
            return f"{part!r} is the name of a device"
    return ""


def path_key(path: str) -> str:
    """Return a key that paths share if they are one file on systems that ignore case and the form of accents."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())
