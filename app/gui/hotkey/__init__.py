"""A key that brings Grus to the front from anywhere, where the system lets a program have one."""
