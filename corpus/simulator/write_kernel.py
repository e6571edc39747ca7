"""Kernel logs: one file a host, in one of the forms in which kernel logs are collected."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from neuron_doctor.corpus.simulator import layout
from neuron_doctor.corpus.simulator.history import Event, History, HostHardwareError, HostRebooted, SetupFailed
from neuron_doctor.corpus.simulator.host_events import by_host
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.text import Lines
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_kernel_faults import said
from neuron_doctor.corpus.simulator.write_kernel_forms import Dresser, Form, Message
from neuron_doctor.corpus.simulator.write_kernel_life import boot, chatter, error_of_previous_boot, process

_FORMS = (Form.BOOT, Form.BOOT, Form.HUMAN, Form.HUMAN, Form.JOURNAL, Form.SYSLOG, Form.ISO_SYSLOG, Form.DECODED)
_NAMES = {
    Form.BOOT: ("dmesg.txt", "dmesg.log", "dmesg"),
    Form.HUMAN: ("dmesg.txt", "dmesg-T.txt"),
    Form.DECODED: ("dmesg-x.txt",),
    Form.JOURNAL: ("journal-kernel.log", "journalctl-k.txt"),
    Form.SYSLOG: ("kern.log",),
    Form.ISO_SYSLOG: ("kern.log", "messages"),
}
_DEFAULT_DRIVER = "2.22.2.0"
_HANGS_NAMED, _MIRRORING, _RESETTING, _DEREGISTERING = 0.2, 0.4, 0.3, 0.3  # shares of sites


def files(history: History, style: Style, random: Random) -> Iterator[File]:
    """A kernel log of each host that can still be asked, all in one form."""
    if not style.dmesg:
        return
    form = random.choice(_FORMS)
    name = random.choice(_NAMES[form])
    site = Random(random.getrandbits(64))
    names_hangs, mirrors = site.random() < _HANGS_NAMED, site.random() < _MIRRORING
    resets, dereg = site.random() < _RESETTING, site.random() < _DEREGISTERING
    for host, events in by_host(history).items():
        reboot = _reboot(events)
        if reboot is not None and _gone(reboot, history):
            continue
        own = Random(random.getrandbits(64))
        messages = [*_life(history, host, events, own, resets=resets, dereg=dereg)]
        for event in events:
            messages += said(event, history, own, names_hangs=names_hangs, mirrors=mirrors)
        machine = history.job.hosts[host]
        messages += chatter(machine, machine.boot, history.collected, _chatter_count(messages, style, own), own)
        path = layout.path_for(style, history.job, source="dmesg", host=host, name=name)
        yield _written(history, style, host, form, messages, reboot, path)


def _life(
    history: History, host: int, events: Sequence[Event], random: Random, *, resets: bool, dereg: bool
) -> Iterator[Message]:
    machine = history.job.hosts[host]
    driver = history.versions_of_host.get(host, {}).get("driver", history.versions.get("driver", _DEFAULT_DRIVER))
    efa = not any(isinstance(event, SetupFailed) and event.what == "efa-not-enabled" for event in events)
    yield from boot(machine, machine.boot, driver, efa=efa)
    for rank in history.job.ranks_on(host):
        yield from process(history.lives[rank], history, random, resets=resets, dereg=dereg)
    reboot = _reboot(events)
    if reboot is not None and reboot.back is not None:
        yield from boot(machine, reboot.back, driver, efa=efa, fault=reboot.fault)
        for event in events:
            if isinstance(event, HostHardwareError) and event.time <= reboot.time:
                yield from error_of_previous_boot(reboot.back, event.fault)


def _reboot(events: Sequence[Event]) -> HostRebooted | None:
    return next((event for event in events if isinstance(event, HostRebooted)), None)


def _gone(reboot: HostRebooted, history: History) -> bool:
    """Whether the host was still down when the files were collected."""
    return reboot.back is None or reboot.back > history.collected


def _chatter_count(messages: list[Message], style: Style, random: Random) -> int:
    return random.randrange(3, 12) + int(style.noise * len(messages))


def _written(
    history: History,
    style: Style,
    host: int,
    form: Form,
    messages: list[Message],
    reboot: HostRebooted | None,
    path: str,
) -> File:
    """The file: what was logged before the collection, and only since the last boot where the ring was lost with it."""
    machine = history.job.hosts[host]
    first = Dresser(form, machine, machine.boot, history.job.start, style.utc_offset)
    lines = Lines()
    for message in sorted(messages, key=lambda message: message.time):
        if message.time > history.collected:
            break
        dresser = first
        if reboot is not None and reboot.back is not None and message.time >= reboot.time:
            if message.time < reboot.back:
                continue  # it was down
            dresser = replace(first, boot=reboot.back)
        elif reboot is not None and not form.survives_reboot:
            continue
        lines.line(dresser.dress(message), message.fault if form.dated or not _tells_by_date(message) else None)
    return lines.file(path, "dmesg", host, history.job.ranks_on(host))


def _tells_by_date(message: Message) -> bool:
    """A boot's first line tells of a reboot only where it carries a date."""
    return message.text.startswith("Linux version")
