"""Files written whole or not at all, one by one or as a set; and files of any kind opened to be read."""
