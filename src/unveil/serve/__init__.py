"""A page on this machine for those who do not write commands; it holds no logic of measures."""
