"""The folders that Signalbox writes to. Commands use this module without loading the web framework."""

from pathlib import Path

from signalbox.app.config import Settings, SettingsError


def data_folder(settings: Settings) -> Path:
    """Return the data folder, created if it is missing; raises SettingsError."""
    folder = settings.signalbox_data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"The data folder {folder} cannot be created ({error.strerror}). Set SIGNALBOX_DATA_DIR to one that can."
        ) from None
    return folder


def notes_folder(settings: Settings) -> Path:
    """Return the folder of notes: SIGNALBOX_NOTES_DIR, or a folder in the data folder."""
    return settings.signalbox_notes_dir or settings.signalbox_data_dir / "notes"
