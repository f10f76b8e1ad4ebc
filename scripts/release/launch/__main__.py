"""Runs reprise.sh, which lies with the programs in the directory package."""

import os
import sys


def main():
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "package", "reprise.sh")
    os.execv("/bin/sh", ["sh", script, *sys.argv[1:]])


if __name__ == "__main__":
    main()
