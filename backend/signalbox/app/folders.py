"""The folders that Signalbox writes to. Apart from the app, so that commands need not load the web framework."""

from pathlib import Path

from signalbox.app.config import Settings, SettingsError


def data_folder(settings: Settings) -> Path:
    """Make the data folder where it is missing and return it; raises SettingsError when it cannot be made."""
    folder = settings.signalbox_data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"The data folder {folder} cannot be made ({error.strerror}). Set SIGNALBOX_DATA_DIR to one that can."
        ) from None
    return folder


def notes_folder(settings: Settings) -> Path:
    """Return where notes are kept: the folder that is set, else one in the data folder."""
    return settings.signalbox_notes_dir or settings.signalbox_data_dir / "notes"
