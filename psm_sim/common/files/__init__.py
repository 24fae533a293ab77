"""Atomic writing of files and directories, and reading of files, pipes and TOML."""
