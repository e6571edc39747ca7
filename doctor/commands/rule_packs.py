"""`neuron-doctor rules packs`: what counts on this machine beside what is named, and where it is from."""

from __future__ import annotations

from neuron_doctor.commands.inputs import Isolated, NoBuiltin, Rules, SiteFile, packs_from, stop_on_usage_errors
from neuron_doctor.commands.rule_inputs import tell_gone


def packs(
    rules: Rules = [],  # noqa: B006 - typer reads the default, nothing changes it
    no_builtin_rules: NoBuiltin = False,
    site: SiteFile = None,
    isolated: Isolated = False,
) -> None:
    """List the packs, the site file, the plug-ins and the parameters that count here, with tabs between.

    A pack: `pack`, its name, version, number of rules, folder and digest. The site file: `site`, its name, path and digest. A
    plug-in: `collector`, its name, package and version. A parameter: `parameter`, its name, type, value and default.
    """
    from neuron_doctor.engine.parameters import shown  # noqa: PLC0415 - loaded when it runs, so that --help is quick
    from neuron_doctor.packs import load, roots, site_file  # noqa: PLC0415
    from neuron_doctor.plugins import plugins_of  # noqa: PLC0415

    with stop_on_usage_errors():
        wanted = packs_from(rules, builtin=not no_builtin_rules, isolated=isolated, sited=True, site=site)
        rulebook = load(wanted)
    tell_gone(rulebook)
    folders = {root.base: root.directory for root in roots(wanted)}
    for pack in rulebook.packs:
        print("pack", pack.name, pack.version, pack.rules, folders[pack.base], pack.sha256, sep="\t")
    file = site_file(wanted)
    if rulebook.site and file:
        print("site", rulebook.site.name, file.path, rulebook.site.sha256, sep="\t")
    for plugin in plugins_of(wanted):
        print("collector", plugin.name, plugin.package, plugin.version, sep="\t")
    for one in rulebook.parameters:
        print("parameter", one.name, one.type, shown(one.value), shown(one.default), sep="\t")
