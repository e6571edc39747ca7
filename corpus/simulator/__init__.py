"""The incident simulator: makes jobs, breaks them, and writes what every source would have shown.

The way through: a `Scenario` (a seed made explicit) -> `execution` runs the ranks' programs under the faults and gives a
`History` (what truly happened, in true time) -> the writers (`write_*`) turn a history into files, each in its own format
and on its own host's clock -> `loss` takes some of them away or damages them -> an `Incident`: files and the truth.

It writes formats and reads none: nothing here imports the engine or the collectors, so that what the doctor gets right
on these incidents is not right by sharing code with them.
"""
