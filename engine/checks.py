"""What rules are checked for: the id, weight and meaning of each check; `docs/lint.md` is made of this table."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Weight = Literal["error", "warning"]


class Check(Struct, frozen=True):
    """One thing that is looked at. With `loading`, a rule that breaks it cannot be used, nor can the check be silenced."""

    id: str
    weight: Weight
    what: str
    why: str
    fix: str
    loading: bool = False


CHECKS = {
    check.id: check
    for check in (
        Check(
            "file",
            "error",
            "A pack or a file of it cannot be read, is no UTF-8, or stands where it does not belong.",
            "A rule that is silently left out is a failure that is silently not found.",
            "Make the file readable, and save it as UTF-8.",
            loading=True,
        ),
        Check(
            "yaml",
            "error",
            "The file is not plain YAML: a tab, a bracket that is not closed, a tag, an anchor.",
            "Half of a rule is another rule.",
            "Indent with spaces; quote text with `: `, ` #` or a special character at its start; write dates in quotes.",
            loading=True,
        ),
        Check(
            "duplicate-key",
            "error",
            "A key stands twice in one place.",
            "YAML would quietly take the last one.",
            "Put both under one key, or remove one.",
            loading=True,
        ),
        Check(
            "key",
            "error",
            "A key is unknown, or one is missing.",
            "A misspelt key would do nothing, and nobody would see that.",
            "Write it as the rule language has it; the JSON schema completes keys in editors.",
            loading=True,
        ),
        Check(
            "value",
            "error",
            "A value is of another type or form than its key wants: a time without a unit, a word that is no choice.",
            "What it was meant to say cannot be known.",
            "Write what the message names.",
            loading=True,
        ),
        Check(
            "name",
            "error",
            "A cause, a rule, a pattern, a parameter, a kind of fact or a set of causes is named that is not there.",
            "The rule would wait for what never comes.",
            "Take the name that is meant; the message has the nearest one.",
            loading=True,
        ),
        Check(
            "expression",
            "error",
            "A condition on a record cannot be read, or asks for a field that is not there or is of another type.",
            "Such a condition would never be true.",
            "Write text in double quotes and `==` for equality; the message names the fields.",
            loading=True,
        ),
        Check(
            "regex",
            "error",
            "A pattern is not a regular expression of Python.",
            "It cannot be searched for.",
            "Put a backslash before brackets, dots and the like that stand for themselves.",
            loading=True,
        ),
        Check(
            "not-linear",
            "error",
            "A pattern may take more than linear time: look-around, a back-reference, a repetition whose rounds may read one "
            "text in several ways, three times `.*` in a row.",
            "One hostile or odd line could stop a diagnosis.",
            "Bound what repeats, and leave out of it what ends it (`[^,]{1,200},`). What must not be there is for a condition.",
            loading=True,
        ),
        Check(
            "duplicate-id",
            "error",
            "Two rules, patterns, causes, sets of causes, conditions or parameters have one id.",
            "Ids are global over all packs: reports and silences name them, and which of the two is meant nobody can tell.",
            "Begin the ids of a pack with a name of its own.",
            loading=True,
        ),
        Check(
            "circle",
            "error",
            "Rules ask for each other's findings in a circle.",
            "Each would have to be evaluated before the other.",
            "Let one of them ask for records, or use `explains` or `follows`.",
            loading=True,
        ),
        Check(
            "digest",
            "error",
            "The files of a pack are not those that its manifest tells the digest of.",
            "A file was changed, lost or added after the pack was made: its author answers for another one.",
            "Get the pack anew. If the change is yours, give the pack another version and run `rules seal`.",
            loading=True,
        ),
        Check(
            "engine",
            "error",
            "A pack is for a newer neuron-doctor than this one.",
            "What its rules say cannot be understood, or would be understood wrongly.",
            "Update neuron-doctor, or take the version of the pack that is for this one.",
            loading=True,
        ),
        Check(
            "no-examples",
            "error",
            "A rule has no examples.",
            "Nobody notices when it stops to fire, or fires on something else.",
            "Add at least one positive and one negative: a line that looks alike and is no failure.",
        ),
        Check(
            "no-action",
            "error",
            "A rule whose findings are failures says nothing about what to do.",
            "Its reader is woken at night and left alone.",
            "Add `actions`; `collect-more` is one, if more must be known first.",
        ),
        Check(
            "no-reference",
            "error",
            "A reference says nothing: a placeholder instead of a place.",
            "A rule that nobody can check is believed or thrown away.",
            "Name the document, the source file, the issue or the incident.",
        ),
        Check(
            "unknown-slot",
            "error",
            "A text has a slot such as `{shard}` that neither the place nor a record of the condition can fill, or half of one.",
            "The reader sees `<shard>`.",
            "Name a capture of the rule's patterns, or a field of its kinds of fact or of a place, as it is written there.",
        ),
        Check(
            "explains-itself",
            "error",
            "A rule explains its own cause at the same place.",
            "Two findings of it would explain each other, and the first root is lost.",
            "Leave its own cause out of `explains`.",
        ),
        Check(
            "never-fires",
            "error",
            "No record and no set of records can meet the condition.",
            "The rule looks like cover where there is none.",
            "Look for an `and` that should be an `or`, a value that the capture cannot have, a bound the wrong way round.",
        ),
        Check(
            "never-matches",
            "error",
            "A pattern can match nothing that it is for: `$` or `^` in its midst, a number that is captured from letters, "
            "slashes around it as other languages have them.",
            "The rule looks like cover where there is none.",
            "Put a backslash before `$` and `^` that stand for themselves; capture digits with `\\d`; write no delimiters.",
        ),
        Check(
            "lost-capture",
            "error",
            "A pattern captures what the fact that it emits has no field for.",
            "No condition, action or report can ask for it.",
            "Call the capture as the field ([facts](facts.md)), or leave its name out.",
        ),
        Check(
            "capped-confidence",
            "warning",
            "An experimental rule has a confidence above 0.6.",
            "Reports never show it: what nobody has seen often enough stays at 0.6.",
            "Write 0.6 at most, or make the rule stable.",
        ),
        Check(
            "one-name",
            "warning",
            "Two examples of a rule have one name.",
            "Where one of them fails, the name does not say which.",
            "Say in the name what the example shows.",
        ),
        Check(
            "cut-off",
            "warning",
            "Text without quotes ends at a space and `#`: what follows is a comment.",
            "Half of the title, or of the pattern, is not there.",
            "Put the text in quotes; write a space behind the `#` of a comment.",
        ),
        Check(
            "over-place",
            "error",
            "A condition with `over` in a rule that is not `at: job`.",
            "It is looked at for each place by itself, where there is one rank, and not over all of them.",
            "Write `at: job`; the finding is about those that the quantifier names.",
        ),
        Check(
            "duplicate-rule",
            "error",
            "Two rules have the same condition.",
            "Each finding comes twice, and two causes compete for one failure.",
            "Keep one; name the other cause in its `alternatives`.",
        ),
        Check(
            "shadowed-rule",
            "error",
            "Wherever a rule fires, a rule that supersedes it fires too.",
            "Its findings are always dropped.",
            "Make the other rule more precise, or remove one of the two.",
        ),
        Check(
            "duplicate-pattern",
            "error",
            "Two patterns look for the same text.",
            "It is searched for twice, and a change of the one is forgotten in the other.",
            "Keep one, in a file of shared patterns if several rules ask for it.",
        ),
        Check(
            "overlapping-patterns",
            "warning",
            "The example of one rule is also what a pattern of another rule with another cause looks for, and nothing says which "
            "one counts.",
            "One line becomes two roots.",
            "Make the more general pattern more precise, or let the precise rule name the general one in `supersedes`.",
        ),
        Check(
            "unused-pattern",
            "error",
            "No rule asks for a pattern.",
            "It costs time in every scan.",
            "Remove it, or ask for it.",
        ),
        Check(
            "unused-parameter",
            "error",
            "Nothing refers to a parameter.",
            "A site that sets it believes that it does something.",
            "Remove it, or write `$NAME` where its value is meant.",
        ),
        Check(
            "no-literal",
            "error",
            "A pattern has no run of four plain characters that each match contains.",
            "Every other line would be a candidate.",
            "Add a word of the message.",
        ),
        Check(
            "costly-pattern",
            "warning",
            "A pattern finds more than 500 candidates in a megabyte of text in which nothing failed.",
            "Each candidate is looked at by Python; a terabyte has many.",
            "Begin with what is rare in the message, and leave out what every line has.",
        ),
        Check(
            "ruinous-pattern",
            "error",
            "A pattern finds more than 5,000 candidates in a megabyte of text in which nothing failed.",
            "The scan would take many times as long for this pattern alone.",
            "As for costly-pattern.",
        ),
        Check(
            "style",
            "warning",
            "A file is not called as its rule, a title is a sentence or too long, an explanation has no end.",
            "Titles stand in headlines, followed by the place; files are found by their name.",
            "Call the file `ID.yaml`; a title has at most 90 characters and no full stop, an explanation ends with one.",
        ),
        Check(
            "silence-unclear",
            "error",
            "A comment begins like a silence and is none, names an unknown check, or one that cannot be silenced.",
            "Its author believes that it does something.",
            "Write `# lint: silence CHECK until YYYY-MM-DD: reason`.",
        ),
        Check(
            "silence-expired",
            "error",
            "The day of a silence has passed.",
            "It was granted for a time, and the problem is still there.",
            "Solve the problem, or look at the reason again and set another day.",
        ),
        Check(
            "silence-unused",
            "warning",
            "A silence has nothing to silence.",
            "It would hide the next problem of its kind.",
            "Remove it.",
        ),
    )
}
