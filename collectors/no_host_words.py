"""Words that are numbered as hosts are, and mean something else: attempts, ranks, experiments, parts of programs, devices."""

from __future__ import annotations

import re

from neuron_doctor.engine.regexes import regex

_OF_NO_HOST = """
attempt restart retry try rank ranks local global epoch step steps iter iteration run runs trial job jobs task tasks
exp exps experiment sweep config cfg seed study baseline variant model ablation bench benchmark eval test tests case
pod pods container trainer replica shard part chunk batch stage group team role rep proc process thread pid
log logs out err dump dumps trace traces report capture collect snapshot bundle backup copy old before after
ckpt ckpts checkpoint checkpoints version ver rel release build day date week month session window phase round
device devices core cores nd nc neff gpu chip card numa socket ring channel train training file data input output tmp
dp tp pp ep cp sp mp vp
fold folds expert experts slot lane bucket env envs loader dataloader microbatch layer layers split subset scenario
"""
_OF_PROGRAMS = """
worker actor learner trainer ps engine client agent executor driver scheduler service app web db main role member peer partition
thread proxy replica gpu numa efa mlx ib disk port link channel ring queue irq tty docker neuron nccl ccom nrt tdrv torch jax
nemo vllm ray info warn warning error debug
nvme eth ens md loop sd vd
"""
_OF_MANY_HOSTS = """
rack racks row zone az region site dc datacenter cluster cell block pool nodepool nodegroup switch
"""
#: What a host is called after as often as what it stands in: `trn-pool-3`, `rack2-n4`.
GROUPINGS = frozenset(_OF_MANY_HOSTS.split())
#: What no host is called after, whatever else its name has.
_NEVER = frozenset(_OF_NO_HOST.split())
#: A name that has one of these is no host's, unless something else than its siblings' ranks and times shows it.
NO_HOST = _NEVER | GROUPINGS
#: Nor is a name before lines of text that has one of these, by which programs number what they are made of.
NO_HOST_OF_LINES = NO_HOST | frozenset(_OF_PROGRAMS.split())
_OF_ANOTHER = """
replacement replaced replaces replacing replace new spare standby successor peer peers neighbour neighbor next other others to
from vs versus and against
"""
#: What a name goes on with behind that of a host where it is about another one: `trn-2-replacement.log`.
OF_ANOTHER_HOST = frozenset(_OF_ANOTHER.split())
_BEFORE = """
worker workers actor learner trainer engine agent executor driver service server replica raylet ray vllm nemo torchrun mpirun srun
node host pod job task proc process main train training eval inference serving log logs out err
"""
#: What a name begins with before that of the host on which it ran: `worker-trn-06.out`.
BEFORE_A_HOST = frozenset(_BEFORE.split())
_OF_A_STORY = """
good bad ok fine stuck broken healthy sick slow fast working failing failed success patched fixed vanilla tuned first second third
last previous current latest orig original monday tuesday wednesday thursday friday saturday sunday today yesterday
trainium inferentia
"""
#: No name that has no number and is one of these is a host's: so people sort what they collect.
OF_A_STORY = frozenset(_OF_A_STORY.split())

_WORD = regex(r"[a-z]+", re.ASCII | re.IGNORECASE)
#: A word, or a letter that counts: `rack2-n4`, not `rack-a`.
_COUNTED = regex(r"[a-z]{2,}|(?<![a-z\d])[a-z](?=\d)", re.ASCII)


def words_of(name: str) -> set[str]:
    """The words of a name, in lower case."""
    return {word.casefold() for word in _WORD.findall(name)}


def may_name_a_host(name: str) -> bool:
    """Whether a name has no word that never means a host; one for what many hosts are in stands beside another word only."""
    words = words_of(name)
    if words & _NEVER:
        return False
    return not words & GROUPINGS or bool(set(_COUNTED.findall(name.casefold())) - GROUPINGS)
