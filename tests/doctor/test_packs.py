"""Packs: where they are found, what makes one, which conflicts there are, and that nothing else brings rules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pack_builders import MANIFEST, install, run, write_pack

from neuron_doctor import found
from neuron_doctor.engine.errors import RulebookError, RuleError
from neuron_doctor.engine.manifest import digest_of
from neuron_doctor.engine.packfiles import PackFile, read_packs, root_of
from neuron_doctor.engine.rule_loader import compile_rulebook
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.installed import Brought, Installed, installed
from neuron_doctor.keep import Keep
from neuron_doctor.packs import builtin_pack, load, load_with_examples, roots, site_file
from neuron_doctor.request import Packs
from neuron_doctor.seal import sealed

pytestmark = pytest.mark.heavy

CAUSES = [file for file in read_packs([root_of(builtin_pack())]) if file.inner == "causes.yaml"]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the machine's packs, and a home with none."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(found, "MACHINE", tmp_path / "etc")
    monkeypatch.setattr(found.found_packs, "__defaults__", (tmp_path / "etc",))
    monkeypatch.setattr(found.found_site, "__defaults__", (tmp_path / "etc",))
    return tmp_path / "etc" / "rules.d"


def user(tmp_path: Path) -> Path:
    return tmp_path / "data" / "neuron-doctor" / "rules.d"


def names(rulebook: Rulebook) -> list[str]:
    return [pack.name for pack in rulebook.packs]


def errors(packs: Packs) -> list[str]:
    with pytest.raises(RulebookError) as raised:
        load(packs, Keep(None))
    return [str(error) for error in raised.value.errors]


def test_packs_of_the_machine_the_user_an_installed_package_and_the_command_line_count_together(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pack(machine / "of-machine", "mac")
    write_pack(user(tmp_path) / "of-user", "usr")
    module = install(tmp_path / "site", "acme_rules", "[neuron_doctor.rules]\nacme = acme_rules.pack\n")
    write_pack(module / "pack", "acme")
    given = write_pack(tmp_path / "given", "giv", manifest="")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    rulebook = load(Packs((given,)), Keep(str(tmp_path / "cache")))
    assert names(rulebook) == ["built-in", "acme", "mac", "usr", "given"]
    assert [pack.version for pack in rulebook.packs] == ["", "1.4.0", "1.4.0", "1.4.0", ""]
    assert [pack.rules for pack in rulebook.packs[1:]] == [1, 1, 1, 1]
    own = {rule.id: rule.pack for rule in rulebook.rules if rule.pack != "built-in"}
    assert own == {"acme-odd": "acme", "mac-odd": "mac", "usr-odd": "usr", "giv-odd": "given"}
    assert "acme_rules" not in sys.modules


def test_what_was_only_found_is_left_out_where_that_is_asked_for(machine: Path, tmp_path: Path) -> None:
    write_pack(machine / "a", "mac")
    given = write_pack(tmp_path / "given", "giv")
    assert names(load(Packs((given,)), Keep(None))) == ["built-in", "mac", "giv"]
    assert names(load(Packs((given,), isolated=True), Keep(None))) == ["built-in", "giv"]
    alone = load(Packs((given,), builtin=False), Keep(None))
    assert [(pack.name, pack.rules) for pack in alone.packs] == [("built-in", 0), ("giv", 1)]


@pytest.mark.parametrize("manifest", [MANIFEST, MANIFEST.replace("acme", "other")])
def test_two_packs_of_one_name_are_an_error_that_names_both_places(
    machine: Path, tmp_path: Path, manifest: str
) -> None:
    write_pack(machine / "a", "mac")
    write_pack(user(tmp_path) / "b", "usr", manifest=MANIFEST.format(name="mac"))
    [error] = errors(Packs())
    assert (
        error
        == f"{user(tmp_path)}/b/pack.yaml:1:7: pack 'mac' stands at {machine}/a/pack.yaml:1:7 already (rename one)"
    )


@settings(max_examples=10, deadline=None)
@given(st.permutations(["built-in", "p", "q", "r"]))
def test_the_order_of_packs_decides_nothing(order: Sequence[str]) -> None:
    text = "name: {}\nversion: '1'\nminimum_engine: '0.1'\n"
    rule = "id: {0}-x\ntitle: t\ncause: disk-full\nseverity: info\ntrust: [F]\npatterns: {{{0}-t: {{regex: {0}odd}}}}\n"
    rule += "when: {0}-t\nexplanation: e.\nreferences: [r]\n"
    packs = {
        name: [
            PackFile(f"/{name}/pack.yaml", text.format(name).encode(), base=f"/{name}"),
            PackFile(f"/{name}/x.yaml", rule.format(name).encode(), base=f"/{name}"),
        ]
        for name in "pqr"
    }
    packs["built-in"] = CAUSES
    usual = compile_rulebook([file for name in sorted(packs) for file in packs[name]])
    other = compile_rulebook([file for name in order for file in packs[name]])
    assert (other.rules, other.patterns, other.sha256) == (usual.rules, usual.patterns, usual.sha256)
    assert sorted(other.packs, key=lambda pack: pack.name) == sorted(usual.packs, key=lambda pack: pack.name)


def test_a_rule_of_one_id_in_two_packs_is_told_with_both_places(machine: Path, tmp_path: Path) -> None:
    write_pack(machine / "a", "mac")
    given = write_pack(tmp_path / "given", "mac", manifest="")
    told = errors(Packs((given,)))
    assert [error.partition(" ")[0] for error in told] == ["given/mac-odd.yaml:1:5:"]
    assert all(f"{machine}/a/mac-odd.yaml" in error for error in told)


def test_a_folder_that_is_found_in_two_ways_and_named_too_is_one_pack(machine: Path, tmp_path: Path) -> None:
    folder = write_pack(machine / "a", "mac")
    user(tmp_path).mkdir(parents=True)
    (user(tmp_path) / "link").symlink_to(folder)
    assert names(load(Packs(), Keep(None))) == ["built-in", "mac"]
    assert names(load(Packs((folder,)), Keep(None))) == ["built-in", "mac"]


def test_folders_of_one_name_are_told_apart(machine: Path, tmp_path: Path) -> None:
    folders = tuple(write_pack(tmp_path / name / "rules", name, manifest="") for name in "ab")
    rulebook = load_with_examples(Packs(folders))
    assert names(rulebook) == ["built-in", "a/rules", "b/rules"]
    (folders[1] / "b-odd.yaml").write_text("id: x\n")
    [error] = errors(Packs(folders))
    assert error.startswith(f"{folders[1]}/b-odd.yaml:1:1: ")


# --- what a pack must be -------------------------------------------------------------------------------------------


def test_a_pack_that_is_found_has_a_manifest_and_one_that_is_named_need_not(machine: Path, tmp_path: Path) -> None:
    folder = write_pack(machine / "a", "mac", manifest="")
    [error] = errors(Packs())
    assert error == f"{folder}/pack.yaml: there is no pack.yaml: a pack that is found by itself says which one it is"
    assert names(load(Packs((folder,)), Keep(None))) == ["built-in", "a"]


def test_what_lies_beside_packs_and_is_none_is_told_if_it_looks_like_rules(machine: Path) -> None:
    write_pack(machine / "a", "mac")
    (machine / "README").write_text("ours")
    (machine / ".git").mkdir()
    assert names(load(Packs(), Keep(None))) == ["built-in", "mac"]
    (machine / "loose.yaml").write_text("id: x")
    [error] = errors(Packs())
    assert error == f"{machine}/loose.yaml: a pack is a folder with a pack.yaml in it: move this file into one"


@pytest.mark.parametrize("which", ["rules.d", "a"])
def test_what_everybody_can_write_to_is_an_error(machine: Path, which: str) -> None:
    folder = write_pack(machine / "a", "mac")
    (machine if which == "rules.d" else folder).chmod(0o777)
    [error] = errors(Packs())
    assert "everybody can write to it, so it is not used (chmod o-w)" in error


def manifest_errors(folder: Path, text: str) -> list[RuleError]:
    write_pack(folder, "acme", manifest=text)
    with pytest.raises(RulebookError) as raised:
        compile_rulebook([*CAUSES, *read_packs([root_of(folder)])], "0.1.0")
    return list(raised.value.errors)


@pytest.mark.parametrize(
    ("right", "wrong", "where", "message", "hint"),
    [
        ("name: acme", "name: Acme", (1, 7), "name: 'Acme' is not a name of small letters, digits and hyphens", ""),
        ("name: acme\n", "", (1, 1), "the key is missing: 'name'", "add it"),
        ("name: acme", "nam: acme", (1, 1), "there is no key 'nam' here", "did you mean 'name'?"),
        ('"1.4.0"', "1.4", (2, 10), "version wants text, not a number", "put it in quotes: '1.4'"),
        ('"0.1"', "newest", (3, 17), "minimum_engine: 'newest' is not a version of neuron-doctor in quotes", ""),
        ('"0.1"', '"0.2"', (3, 17), "this pack is for neuron-doctor 0.2 or newer, and this is 0.1.0", "update"),
        ('"0.1"\n', '"0.1"\ndigest: abc\n', (4, 9), "digest: 'abc' is not `sha256:` and 64 hexadecimal digits", ""),
        ('"0.1"\n', '"0.1"\nurl: x\n', (4, 1), "there is no key 'url' here", "known here: name, version"),
        ("name:", "- name:", (2, 1), "not valid YAML", ""),
    ],
)
def test_a_mistake_in_a_manifest_has_one_message_that_says_where_and_what_to_do(
    tmp_path: Path, right: str, wrong: str, where: tuple[int, int], message: str, hint: str
) -> None:
    text = MANIFEST.format(name="acme")
    assert text.count(right) == 1
    [error] = manifest_errors(tmp_path / "acme", text.replace(right, wrong))
    assert (error.location.line, error.location.column) == where
    assert message in error.message
    assert hint in error.hint


def test_a_pack_for_a_newer_engine_is_told_of_that_and_of_nothing_else(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "acme", "acme")
    (folder / "acme-odd.yaml").write_text("what: is this\n")
    other = write_pack(tmp_path / "other", "other")
    rule = (other / "other-odd.yaml").read_text()
    (other / "other-odd.yaml").write_text(rule.replace("when:", "supersedes: [acme-odd, is]\nwhen:"))
    files = [*CAUSES, *read_packs([root_of(folder), root_of(other)])]
    with pytest.raises(RulebookError) as raised:
        compile_rulebook(files, "0.0.9")
    assert {error.check for error in raised.value.errors} == {"engine"}
    assert len(raised.value.errors) == 2


def test_a_manifest_stands_at_the_top(tmp_path: Path) -> None:
    write_pack(tmp_path / "rules.d" / "acme")
    with pytest.raises(RulebookError) as raised:
        compile_rulebook([*CAUSES, *read_packs([root_of(tmp_path / "rules.d")])])
    assert str(raised.value) == (
        "rules.d/acme/pack.yaml: a manifest stands at the top of its pack (name the folder that it is in)"
    )


# --- the digest ----------------------------------------------------------------------------------------------------


def test_a_sealed_pack_loads_and_one_that_was_changed_does_not(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "acme")
    before = (folder / "pack.yaml").read_text()
    digest = sealed(folder)
    assert (folder / "pack.yaml").read_text() == f"{before}digest: {digest}\n"
    assert sealed(folder) == digest
    assert names(load(Packs((folder,)), Keep(None))) == ["built-in", "acme"]
    rule = folder / "acme-odd.yaml"
    rule.write_text(rule.read_text().replace("severity: error", "severity: info"))
    [error] = errors(Packs((folder,)))
    assert error.startswith("acme/pack.yaml:4:9: the files of the pack are not those of this digest: theirs is sha256:")
    sealed(folder)
    assert names(load(Packs((folder,)), Keep(None))) == ["built-in", "acme"]


def changed_byte(contents: dict[str, bytes], name: str) -> None:
    contents[name] = contents[name][:-1] + bytes([contents[name][-1] ^ 1])


def lost(contents: dict[str, bytes], name: str) -> None:
    del contents[name]


def renamed(contents: dict[str, bytes], name: str) -> None:
    contents[f"x{name}"] = contents.pop(name)


def moved_end(contents: dict[str, bytes], name: str) -> None:
    """The end of one file becomes the beginning of the next."""
    last = max(contents)
    contents[last] = contents[name][-1:] + contents[last]
    contents[name] = contents[name][:-1]


@given(
    st.dictionaries(st.from_regex("[a-w]{1,3}\\.yaml", fullmatch=True), st.binary(min_size=2), min_size=2),
    st.sampled_from([changed_byte, lost, renamed, moved_end]),
    st.data(),
)
def test_every_change_of_any_file_is_another_digest(
    contents: dict[str, bytes], change: Callable[[dict[str, bytes], str], None], data: st.DataObject
) -> None:
    def digest() -> str:
        return digest_of([PackFile(f"p/{name}", content) for name, content in contents.items()])

    before = digest()
    change(contents, data.draw(st.sampled_from(sorted(contents)[:-1])))
    assert digest() != before


def test_seal_needs_a_manifest_and_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    done = run("rules", "seal", write_pack(tmp_path / "a", manifest=""))
    assert (done.returncode, done.stdout) == (2, "")
    assert "pack.yaml cannot be read" in done.stderr
    wrong = write_pack(tmp_path / "b", manifest="name: acme\n")
    assert "the keys are missing: 'version', 'minimum_engine'" in run("rules", "seal", wrong).stderr
    assert (wrong / "pack.yaml").read_text() == "name: acme\n"


# --- installed packages --------------------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of installed packages, the only one on Python's path that is not empty of ours."""
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(place)])
    return place


def acme(target: Path) -> Brought:
    return Brought("acme", "acme_rules", "1.0", str(target))


def test_what_is_installed_is_resolved_once_and_again_when_something_is_installed(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = Keep(str(tmp_path / "cache"))
    assert installed(keep) == Installed()
    module = install(site, "acme_rules", "[neuron_doctor.rules]\nacme = acme_rules\n")
    os.utime(site, (1, 1))
    assert installed(keep).rules == (acme(module),)
    monkeypatch.setitem(sys.modules, "neuron_doctor.entrypoints", None)  # whoever asks again fails
    assert installed(keep).rules == (acme(module),)
    monkeypatch.delitem(sys.modules, "neuron_doctor.entrypoints")
    (site / "acme_rules-1.0.dist-info" / "METADATA").unlink()
    (site / "acme_rules-1.0.dist-info" / "entry_points.txt").unlink()
    (site / "acme_rules-1.0.dist-info").rmdir()
    assert installed(keep) == Installed()


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("acme_rules.pack", "it names 'acme_rules.pack', and there is no such folder"),
        ("acme_other", "it names 'acme_other', and there is no such folder"),
        ("acme_rules:rules", "it names 'acme_rules:rules', which is not the dotted name of a folder"),
        ("../../etc", "it names '../../etc', which is not the dotted name of a folder"),
        ("", "it names '', which is not the dotted name of a folder"),
    ],
)
def test_an_entry_point_that_names_no_folder_is_an_error(machine: Path, site: Path, value: str, fault: str) -> None:
    install(site, "acme_rules", f"[neuron_doctor.rules]\nacme = {value}\n")
    assert errors(Packs()) == [f"package acme_rules 1.0 (entry point acme): {fault}"]


def test_the_entry_points_of_others_are_not_ours_to_judge(site: Path) -> None:
    install(site, "acme_odd", "neuron_doctor. in what is no section\n=\n[[\n")
    install(site, "acme_plain", "[console_scripts]\nacme = acme:main\n")
    assert installed(Keep(None)) == Installed()


def test_of_a_package_that_is_installed_twice_the_first_on_the_path_counts(site: Path, tmp_path: Path) -> None:
    first = install(site, "acme_rules", "[neuron_doctor.rules]\nacme = acme_rules\n")
    second = tmp_path / "later"
    install(second, "acme_rules", "[neuron_doctor.rules]\nolder = acme_rules\n", "0.9", "Acme-Rules")
    sys.path.append(str(second))
    assert installed(Keep(None)).rules == (acme(first),)


def test_a_package_that_is_installed_for_being_edited_is_found_without_being_imported(
    site: Path, tmp_path: Path
) -> None:
    install(site, "acme_rules", "[neuron_doctor.rules]\nacme = acme_rules.pack\n")
    (site / "acme_rules" / "__init__.py").unlink()
    (site / "acme_rules").rmdir()
    project = install(tmp_path / "project" / "src", "acme_rules", "")
    write_pack(project / "pack")
    (site / "acme.pth").write_text(f"{project.parent}\n")
    sys.path.append(str(project.parent))  # what Python does with the file when it starts
    assert installed(Keep(None)).rules == (acme(project / "pack"),)


# --- nothing else brings rules -------------------------------------------------------------------------------------


def test_an_incident_brings_no_rules_even_to_who_stands_in_it(tmp_path: Path) -> None:
    incident = tmp_path / "incident"
    for folder in (incident / "rules.d" / "evil", incident / "neuron-doctor" / "rules.d" / "evil", incident):
        write_pack(folder, "evil")
    install(
        incident,
        "evil_rules",
        "[neuron_doctor.rules]\nevil = evil_rules\n[neuron_doctor.collectors]\ne = evil_rules:C\n",
    )
    (incident / "site.yaml").write_text("name: evil\n")
    (incident / "run.log").write_text("evil odd 7\n")
    for paths in ([incident], ["."]):
        done = run("diagnose", *paths, "--format", "json", cwd=incident, home=tmp_path / "home")
        report = json.loads(done.stdout)
        assert [pack["name"] for pack in report["tool"]["rulebook"]["packs"]] == ["built-in"]
        assert report["site"] == {}
        assert report["verdict"]["status"] == "healthy"


def test_without_home_and_path_everything_works(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("step 1\n")
    done = run("diagnose", tmp_path, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")


def test_from_a_folder_that_is_no_more_everything_works(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("step 1\n")
    (tmp_path / "gone").mkdir()
    program = Path(sys.executable).parent / "neuron-doctor"
    command = f"cd gone && rmdir ../gone && exec {program} diagnose {tmp_path / 'run.log'} --quiet"
    done = subprocess.run(
        ["/bin/bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_user_may_not_look_into_is_not_there_for_them(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HOME may be that of somebody else, and /etc/neuron-doctor root's alone."""
    write_pack(user(tmp_path) / "a", "usr")
    (tmp_path / "config" / "neuron-doctor").mkdir(parents=True)
    (tmp_path / "config" / "neuron-doctor" / "site.yaml").write_text("name: own\n")
    write_pack(machine / "b", "mac")
    stat, scandir = Path.stat, os.listdir

    def refused(path: Path, **options: bool) -> os.stat_result:
        if "data" in path.parts or "config" in path.parts:
            raise PermissionError(13, "Permission denied")
        return stat(path, **options)

    def unlisted(path: str) -> list[str]:
        refused(Path(path))
        return scandir(path)

    monkeypatch.setattr(Path, "stat", refused)
    monkeypatch.setattr(os, "listdir", unlisted)
    assert [root.name for root in roots(Packs(), Keep(None))] == ["built-in", "b"]
    assert site_file(Packs()) is None


def test_a_start_with_kept_packs_and_site_loads_neither_yaml_nor_metadata(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_pack(home / "data" / "neuron-doctor" / "rules.d" / "a", "mac")
    (home / "config" / "neuron-doctor").mkdir(parents=True)
    (home / "config" / "neuron-doctor" / "site.yaml").write_text(
        'name: west\nsilences: [{rules: [mac-odd], until: "2099-01-01", reason: r}]\n'
    )
    module = install(tmp_path / "site", "acme_rules", "[neuron_doctor.rules]\nacme = acme_rules.pack\n")
    write_pack(module / "pack", "acme")
    (tmp_path / "run.log").write_text("acme odd 7\nmac odd 8\n")
    look = (
        f"import sys\nsys.argv = ['neuron-doctor', 'diagnose', {str(tmp_path / 'run.log')!r}]\n"
        "from neuron_doctor.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = ('yaml', 'lark', 'importlib.metadata', 'configparser', 'neuron_doctor.entrypoints')\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    script = tmp_path / "look.py"
    script.write_text(look)
    env = {"NEURON_DOCTOR_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path / "site")}
    env |= {"XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config")}
    cold, warm = (
        subprocess.run([sys.executable, script], capture_output=True, text=True, env=env, timeout=120, check=True)
        for _ in range(2)
    )
    assert "ROOT CAUSE: An odd line" in cold.stdout
    assert warm.stdout == cold.stdout
    assert (cold.stderr.count("yaml"), warm.stderr.strip()) == (1, "[]")


# --- the commands --------------------------------------------------------------------------------------------------


def test_the_commands_for_authors_see_the_packs_that_are_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder = write_pack(home / "data" / "neuron-doctor" / "rules.d" / "a", "mac")
    listed = run("rules", "list", home=home).stdout.splitlines()
    assert [line.split("\t")[-1] for line in listed if line.startswith("mac-odd\t")] == ["mac"]
    packs = [line.split("\t") for line in run("rules", "packs", home=home).stdout.splitlines()]
    assert [row[:5] for row in packs if row[0] == "pack"][1] == ["pack", "mac", "1.4.0", "1", str(folder)]
    assert "**An odd line**" in run("rules", "show", "mac-odd", home=home).stdout
    assert run("rules", "test", "mac-odd", home=home).returncode == 0
    assert run("rules", "test", "mac-odd", "--isolated", home=home).returncode == 2
    rule = folder / "mac-odd.yaml"
    rule.write_text(rule.read_text().replace("https://wiki.example/odd", "TODO"))
    linted = run("rules", "lint", "--format", "github", home=home, cwd=folder)
    assert (linted.returncode, linted.stdout.count("\n")) == (1, 1)
    assert "file=mac-odd.yaml,line=11,col=14" in linted.stdout


@pytest.mark.parametrize("of", ["rule", "pack", "site"])
def test_the_schemas_are_printed(of: str) -> None:
    assert json.loads(run("rules", "schema", of).stdout)["$defs"]
