"""Studies of the learners that ask for labels: one module each."""

ACTIVE_STUDIES = {
    "sphere": "sphere:STUDY",
    "patience": "dkm_patience:STUDY",
    "worst-case": "worst_case:STUDY",
    "text-like": "text_classes:STUDY",
    "ocr": "ocr:STUDY",
    "drift": "drift:STUDY",
    "isal-1d": "isal_1d:STUDY",
    "isal-planes": "isal_planes:STUDY",
    "isal-pool": "isal_pool:STUDY",
    "trees": "trees:STUDY",
    "lmu": "lmu:STUDY",
}
"""Name of a study, and its place, in the order of the report."""
