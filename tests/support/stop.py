"""stop.py SECONDS_AT_MOST SIGNAL WHEN ARGUMENT...: starts the command, waits until the Python expression
WHEN holds, sends the signal as often as the name is given (INT, INT+INT), and ends with the command's
exit code; 98 when it left something, 99 when it took too long. Temporary files go to the folder "t"."""
import glob
import os
import signal
import subprocess
import sys
import time

TEMPORARY = os.path.abspath('t')


def sleeps():
    """Is there a process "sleep" of the command's?"""
    mine = ('TMPDIR=' + TEMPORARY).encode()
    for f in glob.glob('/proc/[0-9]*'):
        try:
            if open(f + '/comm').read() == 'sleep\n' and \
               mine in open(f + '/environ', 'rb').read().split(b'\0'):
                return True
        except OSError:
            pass
    return False


def holds(when):
    try:
        return eval(when)
    except OSError:  # a file that it looks at is gone again
        return False


def main():
    most, names, when = float(sys.argv[1]), sys.argv[2].split('+'), sys.argv[3]
    os.makedirs(TEMPORARY, exist_ok=True)
    p = subprocess.Popen(sys.argv[4:], env=dict(os.environ, TMPDIR=TEMPORARY))
    give_up = time.time() + 60
    while not holds(when) and p.poll() is None and time.time() < give_up:
        time.sleep(.002)
    start = time.time()
    for name in names:
        p.send_signal(getattr(signal, 'SIG' + name))
        time.sleep(.01)
    code = p.wait()
    took = time.time() - start
    print('took', took, 'left', os.listdir(TEMPORARY))
    give_up = time.time() + 1  # a killed process may take a moment
    while sleeps() and time.time() < give_up:
        time.sleep(.01)
    left = os.listdir(TEMPORARY) or sleeps()
    sys.exit(98 if left else 99 if took > most else code)


main()
