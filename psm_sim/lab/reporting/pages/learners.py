"""First lines of the report on the learners that ask for labels."""

INTRODUCTION = """\
# Learners that ask for labels: published claims, and ours

What five papers claim of online active learners, tested again on their problems or on named stand-ins:
[000] C. Monteleoni's thesis (Learning with Online Constraints, 2006, chapters 3 and 4), [001] E. Moroshko and
K. Crammer (Selective Sampling with Drift), [002] N. Cesa-Bianchi, C. Gentile and L. Zaniboni (Worst-Case
Analysis of Selective Sampling for Linear-Threshold Algorithms), [003] A. Farhangfar's thesis, and [004]
S. Dasgupta, A. Kalai and C. Monteleoni (Analysis of Perceptron-Based Active Learning).

Made by psm_sim {version}, first seed {seed}, with

```sh
{command}
```

The number of workers changes nothing. The same numbers stand in [numbers.json](numbers.json); those of each
figure lie beside it as CSV. A column "reference" has the figures of an independent program.

{rule}

"""
