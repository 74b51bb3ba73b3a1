"""Runs a command on a pseudo-terminal and prints what it shows there.

usage: on_terminal.py COLUMNS COMMAND [ARGUMENT ...]

COLUMNS 0: the terminal does not say how wide it is. Lines end as in a file. Exit status: the
command's; 77 where no pseudo-terminal is to be had.
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

columns, command = int(sys.argv[1]), sys.argv[2:]
try:
    ours, theirs = pty.openpty()
except OSError:
    sys.exit(77)
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL)
os.close(theirs)
seen = b""
try:
    while got := os.read(ours, 65536):
        seen += got
except OSError:  # nobody has the other end any more
    pass
sys.stdout.buffer.write(seen.replace(b"\r\n", b"\n"))
sys.exit(process.wait())
