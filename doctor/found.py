"""What counts without being named: the packs of installed packages, of the machine and of the user, and the site file."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from neuron_doctor.engine.packfiles import MANIFEST, PackFile, Root, read_regular
from neuron_doctor.installed import Installed
from neuron_doctor.userdirs import user_directory

#: What the administrator of a machine wants everybody's diagnoses to know.
MACHINE = Path("/etc/neuron-doctor")
_PACKS, _SITE = "rules.d", "site.yaml"


def found_packs(installed: Installed, environment: Mapping[str, str], machine: Path = MACHINE) -> Iterator[Root]:
    """Their folders; what stands among them and is no pack is told by its fault."""
    for brought in installed.rules:
        base = str(brought) if brought.fault else brought.target
        yield Root(Path(brought.target), base, brought.name, found=True, fault=brought.fault)
    yield from _packs_in(machine / _PACKS)
    user = user_directory(environment, "XDG_DATA_HOME", ".local/share")
    if user:
        yield from _packs_in(user / _PACKS)


def _packs_in(place: Path) -> Iterator[Root]:
    try:
        inside = sorted(place.iterdir())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # what this user may not look into is not theirs: HOME may be somebody else's
    except OSError as error:
        yield _root(place, f"cannot be read: {error.strerror}")
        return
    if fault := fault_of(place):
        yield _root(place, fault)
        return
    for path in inside:
        if path.is_dir() and not path.name.startswith("."):
            yield _root(path, fault_of(path))
        elif path.suffix in (".yaml", ".yml"):
            yield _root(path, f"a pack is a folder with a {MANIFEST} in it: move this file into one")


def _root(path: Path, fault: str) -> Root:
    return Root(path, str(path), path.name, found=True, fault=fault)


def found_site(environment: Mapping[str, str], machine: Path = MACHINE) -> PackFile | None:
    """The site file of the user, else that of the machine."""
    own = user_directory(environment, "XDG_CONFIG_HOME", ".config")
    places = [place / _SITE for place in (own, machine) if place]
    path = next((place for place in places if _is_there(place)), None)
    return site_of(path, fault_of(path)) if path else None


def _is_there(path: Path) -> bool:
    """Whether there is a file, for this user."""
    try:
        return path.exists()
    except PermissionError:
        return False


def site_of(path: Path, fault: str = "") -> PackFile:
    """A site file, as it is read."""
    content = b""
    if not fault:
        content, fault = read_regular(str(path))
    return PackFile(str(path), content, fault=fault, path=str(path), base=str(path))


def fault_of(path: Path) -> str:
    """Why a file or folder that was found by itself is not used; empty where it is. What everybody may write is nobody's."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "everybody can write to it, so it is not used (chmod o-w)" if mode & stat.S_IWOTH else ""
