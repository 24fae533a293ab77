"""What is written for programs: JSON, CSV, and the folder of a run."""
