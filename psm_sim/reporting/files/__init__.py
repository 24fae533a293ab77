"""Files for programs: JSON, CSV, and the folder of a run."""
