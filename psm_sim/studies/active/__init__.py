"""Studies of the learners that ask for labels: one module each."""

ACTIVE_STUDIES = {
    "sphere": "sphere:STUDY",
    "patience": "patience:STUDY",
    "worst-case": "worst_case:STUDY",
    "text-like": "text_like:STUDY",
    "ocr": "ocr:STUDY",
    "drift": "drift:STUDY",
}
"""Name of a study, and its place, in the order of the report."""
