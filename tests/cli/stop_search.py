"""stop_search.py SIGNAL ARGUMENT...: runs the command, sends the signal when the progress on its terminal
shows a first answer, and prints what it prints, read by one who is in no hurry: its output fits
into no pipe until long after the time that a stopped command has. Ends with its exit code."""
import fcntl
import os
import pty
import signal
import subprocess
import sys
import threading
import time

PIPE_BYTES = 4096  # as small as a pipe can be


def news(terminal):
    """Lines of a terminal until nobody writes to it."""
    rest = b''
    while True:
        try:
            rest += os.read(terminal, 4096)
        except OSError:
            return
        *lines, rest = rest.split(b'\n')
        yield from lines


def main():
    terminal, inner = pty.openpty()
    p = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=inner)
    os.close(inner)
    fcntl.fcntl(p.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    lines = news(terminal)
    seen = [next(line for line in lines if b'bound' in line and b'no answer yet' not in line)]
    p.send_signal(getattr(signal, 'SIG' + sys.argv[1]))
    rest = threading.Thread(target=lambda: seen.extend(lines))
    rest.start()
    time.sleep(1)
    sys.stdout.buffer.write(p.stdout.read())
    code = p.wait(60)
    rest.join()
    sys.stderr.buffer.write(b'\n'.join(seen))
    sys.exit(code)


main()
