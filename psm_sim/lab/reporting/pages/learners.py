"""Introduction of the report on the online active learners."""

INTRODUCTION = """\
# Published claims on online active learners

This report tests the claims of five sources on learners that query labels. The problems are those of the
sources, or named replacements.

- [000] C. Monteleoni, Learning with Online Constraints, thesis, 2006, chapters 3 and 4
- [001] E. Moroshko and K. Crammer, Selective Sampling with Drift
- [002] N. Cesa-Bianchi, C. Gentile and L. Zaniboni, Worst-Case Analysis of Selective Sampling for
  Linear-Threshold Algorithms
- [003] A. Farhangfar, thesis
- [004] S. Dasgupta, A. Kalai and C. Monteleoni, Analysis of Perceptron-Based Active Learning

{summary}## Provenance and rule

psm_sim {version} wrote this report with first seed {seed}:

```sh
{command}
```

The results do not depend on the number of workers. [numbers.json](numbers.json) has the same numbers, and
each figure has its numbers in a CSV file. A column "reference" has the results of an independent program.

{rule}

"""
