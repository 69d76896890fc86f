"""Checks `.env` before it is read."""

from pathlib import Path

from dotenv.parser import parse_stream

from signalbox.app.settings.errors import SettingsError


def check_syntax(env_file: Path) -> None:
    """Raise SettingsError for a line of `.env` that cannot be parsed; the library would only log it."""
    try:
        if env_file.exists() and not env_file.is_file():  # reading a pipe would block until something is written
            raise SettingsError(f"{env_file} is not a regular file. Replace it by a text file, or remove it.")
        with env_file.open(encoding="utf-8") as stream:
            for binding in parse_stream(stream):
                if binding.error:
                    line = binding.original.line
                    raise SettingsError(f"Line {line} of {env_file} is invalid. Write NAME=value, or put # before it.")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{env_file} cannot be read ({error.__class__.__name__}). Make it UTF-8 text.") from None
