"""Runs a command in a pseudo-terminal. Reads JSON lines: {"write": text}, {"size": [columns, rows]}; prints its output."""
import base64, fcntl, json, os, pty, select, signal, struct, sys, termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])


def resize(columns, rows):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


resize(columns, rows)
rest = b""
reads = [master, 0]
while True:
    ready, _, _ = select.select(reads, [], [])
    if master in ready:
        try:
            data = os.read(master, 65536)
        except OSError:
            data = b""
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:
            os.kill(pid, signal.SIGKILL)
            reads.remove(0)
        rest += data
        *lines, rest = rest.split(b"\n")
        for line in lines:
            asked = json.loads(line)
            if "write" in asked:
                os.write(master, base64.b64decode(asked["write"]))
            if "size" in asked:
                resize(*asked["size"])
            if "kill" in asked:
                os.kill(pid, asked["kill"])
status = os.waitpid(pid, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) & 255)
