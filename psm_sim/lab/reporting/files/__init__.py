"""Result files of the studies."""
