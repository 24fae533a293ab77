"""``python -m psm_sim validate``: the simulator against measured hardware."""

from __future__ import annotations

import argparse

from psm_sim.commands import reproduce

HELP = """\
Set mean currents and latencies of measured hardware beside ours: each row with the
difference, and a verdict by a rule stated beforehand. Rows that do not fit are shown."""

EPILOG = """\
studies: dtim (mean current against the DTIM period), duty-cycle, latency; without a
name, or with 'all', all of them

examples:
  psm_sim validate dtim
  psm_sim validate all --output reports/validation"""

INTRODUCTION = """\
# Measured hardware, and ours

Mean currents and latencies that others measured, beside those of the simulator. Sources stand with each
study, and with each row in `psm_sim/lab/studies/validation/measured.toml`.

Made by psm_sim {version}, seed {seed}, with

```sh
{command}
```

{rule}

"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    reproduce.add_arguments(parser, quick="shorter runs of the latency: some seconds")


def run(arguments: argparse.Namespace) -> int:
    """Run the studies and report what they found."""
    from psm_sim.lab.studies import load_study
    from psm_sim.lab.studies.validation import VALIDATIONS
    from psm_sim.lab.studies.validation.measured_rows import RULE

    names = reproduce.select_studies(arguments.studies, list(VALIDATIONS))
    studies = {name: load_study(name, VALIDATIONS, "psm_sim.lab.studies.validation") for name in names}
    return reproduce.run_studies(arguments, studies, "validate", introduction=INTRODUCTION, rule=RULE)
