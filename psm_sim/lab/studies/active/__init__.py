"""Studies of the online active learners, one module each."""

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
"""Module and object of each study by its name, in the order of the report."""
