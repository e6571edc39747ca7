"""neuron-doctor: why a distributed job on AWS Trainium or Inferentia failed, hung or slowed down.

`diagnose(["dir"])` gives a typed `Diagnosis`; `report(diagnosis)` the same as the object of the JSON contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_doctor.__about__ import VERSION as __version__

if TYPE_CHECKING:
    from neuron_doctor.engine.verdict import Diagnosis

__all__ = ["__version__", "diagnose", "report"]


def diagnose(
    paths: Sequence[str],
    *,
    rules: Sequence[str] = (),
    builtin_rules: bool = True,
    site: str | None = None,
    isolated: bool = False,
    plugins: bool = True,
    labels: Mapping[str, str] | None = None,
    jobs: int = 1,
) -> Diagnosis:
    """The diagnosis of directories, files and archives. `rules` are further packs, `site` is the site file if not the one that
    is found; `isolated` leaves out packs, site file and plug-ins that are only found, `plugins` False reads without the
    collectors of installed packages; `labels` names paths in the report; at most `jobs` processes read them.

    Raises MissingPath for a path that is not there, RulebookError for wrong rules or a wrong site file, and UsageError for a
    plug-in that cannot be used.
    """
    from neuron_doctor import pipeline  # noqa: PLC0415 - `import neuron_doctor` alone stays cheap
    from neuron_doctor.request import Packs, Request  # noqa: PLC0415

    packs = Packs(
        tuple(map(Path, rules)), builtin_rules, site=Path(site) if site else None, isolated=isolated, plugins=plugins
    )
    request = Request(tuple(paths), labels or {}, packs, jobs=jobs)
    return pipeline.diagnose_paths(request, pipeline.rulebook_for(request))


def report(diagnosis: Diagnosis, exit_status: int = 0) -> dict[str, object]:
    """The JSON object of a report (schema neuron-doctor/report/1)."""
    from neuron_doctor.reports.json_report import report_object  # noqa: PLC0415

    return dict(report_object(diagnosis, exit_status=exit_status, version=__version__))
