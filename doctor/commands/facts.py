"""`neuron-doctor facts`: what was read, one JSON object a line."""

from __future__ import annotations

import sys

from neuron_doctor.commands.inputs import (
    Assumed,
    Isolated,
    Jobs,
    Label,
    NoBuiltin,
    NoPlugins,
    Paths,
    Rules,
    packs_from,
    request_from,
    stop_on_usage_errors,
)


def facts(
    paths: Paths = [],  # noqa: B006 - typer reads the default, nothing changes it
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
    isolated: Isolated = False,
    no_plugins: NoPlugins = False,
    label: Label = [],  # noqa: B006
    assume_timezone: Assumed = "",
    jobs: Jobs = 0,
) -> None:
    """Print every fact as one JSON object a line: kind, place, time, data, source."""
    import json  # noqa: PLC0415 - loaded when it runs, so that --help is quick

    from neuron_doctor.engine.match import canonical  # noqa: PLC0415
    from neuron_doctor.pipeline import collect, rulebook_for  # noqa: PLC0415
    from neuron_doctor.reports.objects import fact_object  # noqa: PLC0415

    with stop_on_usage_errors():
        packs = packs_from(rules, builtin=not no_builtin_rules, isolated=isolated, plugins=not no_plugins)
        request = request_from(paths, packs, label, assume_timezone, jobs=jobs)
        collection = collect(request, rulebook_for(request), sys.stdin.buffer)
    for fact in sorted(collection.facts, key=canonical):
        sys.stdout.write(json.dumps(fact_object(fact), ensure_ascii=False) + "\n")
