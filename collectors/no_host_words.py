"""Words that are numbered as hosts are, and mean something else: attempts, ranks, experiments, parts of programs, devices."""

from __future__ import annotations

_OF_NO_HOST = """
attempt restart retry try rank ranks local global epoch step steps iter iteration run runs trial job jobs task tasks
exp exps experiment sweep config cfg seed study baseline variant model ablation bench benchmark eval test tests case
pod pods container trainer replica shard part chunk batch stage group team role rep proc process thread pid
log logs out err dump dumps trace traces report capture collect snapshot bundle backup copy old before after
ckpt ckpts checkpoint checkpoints version ver rel release build day date week month session window phase round
device devices core cores nd nc neff gpu chip card numa socket ring channel train training file data input output tmp
dp tp pp ep cp sp mp vp rack row zone az region site dc cluster cell block pool switch
fold folds expert experts slot lane bucket env envs loader dataloader microbatch layer layers split subset scenario
"""
_OF_PROGRAMS = """
worker actor learner trainer ps engine client agent executor driver scheduler service app web db main role member peer partition
thread proxy replica gpu numa efa mlx ib disk port link channel ring queue irq tty docker neuron nccl ccom nrt tdrv torch jax
nemo vllm ray info warn warning error debug
nvme eth ens md loop sd vd
"""
#: No name that has one of these is a host's, whatever it is the name of.
NO_HOST = frozenset(_OF_NO_HOST.split())
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
"""
#: No name that has no number and is one of these is a host's: so people sort what they collect.
OF_A_STORY = frozenset(_OF_A_STORY.split())
