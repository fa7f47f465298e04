/** Starts a program in a pseudo-terminal, as a person does, and reads what it shows: for tests. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';

const PTY = fileURLToPath(new URL('pseudo-terminal.py', import.meta.url));
const WAIT_MS = 60_000;
/** Longer than two keys of one burst, and longer than a question waits before it is drawn. */
const KEY_MS = 60;
/** How long a key may take to be drawn. */
const DRAWN_MS = 2_000;
/** Begins and ends each redraw of a screen that is drawn whole. */
const [DRAW, DRAWN] = ['\u001b[?2026h', '\u001b[?2026l'] as const;
const SEQUENCES = new RegExp(`${'\u001b'}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${'\u0007'}]*${'\u0007'}|[@-Z\\\\-_])`, 'g');

const started = new Set<ChildProcessWithoutNullStreams>();

afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started.clear();
});

/** Whether this machine can make a pseudo-terminal for a test; prints why if it cannot. */
export function hasPty(): boolean {
  const { status } = spawnSync('python3', ['-c', 'import pty, termios']);
  if (status !== 0)
    console.log('skipped: python3 with its module pty is not installed, so there is no pseudo-terminal');
  return status === 0;
}

/** How a terminal is set up. */
export interface TtyOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** Added to this process's own; undefined removes a name. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A program in a terminal. */
export interface Tty {
  /** What it has printed since a mark, without escape sequences. */
  out(since?: number): string;
  /** What it has printed, with escape sequences. */
  raw(): string;
  /** The place in the output up to now. */
  mark(): number;
  /** The rows of the newest redraw that has arrived whole, and what was printed behind it. */
  screen(): readonly string[];
  /** How often a whole screen was drawn. */
  redraws(): number;
  /** Sends bytes at once, as a paste or a key does. */
  send(text: string): void;
  /** Presses keys one by one, with the pauses of a person. */
  press(...keys: readonly string[]): Promise<void>;
  /** Types a line key by key, and presses Enter. */
  type(line: string): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Sends a signal to the program. */
  kill(signal: number): void;
  /** Waits until it has printed a text since a mark. */
  until(text: string, since?: number): Promise<string>;
  /** Waits until the newest redraw, or what was printed behind it, has a text. */
  untilShown(text: string): Promise<void>;
  readonly ended: Promise<number | null>;
}

/**
 * Starts a program of ours in a pseudo-terminal.
 *
 * @param main the file that Node runs
 */
export function openTerminal(main: string, args: readonly string[], options: TtyOptions = {}): Tty {
  return openCommand([process.execPath, main, ...args], options);
}

/** Starts a command in a pseudo-terminal: a shell, for the control of jobs. */
export function openCommand(
  command: readonly string[],
  { columns = 100, rows = 30, cwd, env = {} }: TtyOptions = {},
): Tty {
  const child = spawn('python3', [PTY, String(columns), String(rows), ...command], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, TERM: 'xterm-256color', ...env },
  });
  started.add(child);
  return new Terminal(child);
}

class Terminal implements Tty {
  readonly ended: Promise<number | null>;
  #raw = '';
  #heard: () => void = () => undefined;

  constructor(private readonly child: ChildProcessWithoutNullStreams) {
    child.stdout.on('data', (bytes: Buffer) => {
      this.#raw += bytes;
      this.#heard();
    });
    child.stdin.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      child.once('close', (code) => {
        started.delete(child);
        resolve(code);
        this.#heard();
      });
    });
  }

  out(since = 0): string {
    return plain(this.#raw.slice(since));
  }

  raw(): string {
    return this.#raw;
  }

  mark(): number {
    return this.#raw.length;
  }

  screen(): readonly string[] {
    return this.#newest().split('\n');
  }

  redraws(): number {
    return this.#raw.split(DRAW).length - 1;
  }

  send(text: string): void {
    this.#tell({ write: Buffer.from(text).toString('base64') });
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const before = this.#raw.length;
      this.send(key);
      // Every key draws; on a busy machine, two keys would otherwise be read at once, which counts as a paste.
      const late = Date.now() + (key === '' ? 0 : DRAWN_MS);
      while (this.#raw.length === before && Date.now() < late) await pause(KEY_MS);
      await pause(KEY_MS);
    }
  }

  type(line: string): Promise<void> {
    return this.press(...line, '\r');
  }

  resize(...size: readonly [columns: number, rows: number]): void {
    this.#tell({ size });
  }

  kill(signal: number): void {
    this.#tell({ kill: signal });
  }

  async until(text: string, since = 0): Promise<string> {
    await this.#waitFor(text, () => this.out(since));
    return this.out(since);
  }

  untilShown(text: string): Promise<void> {
    return this.#waitFor(text, () => this.#newest());
  }

  async #waitFor(text: string, read: () => string): Promise<void> {
    const late = Date.now() + WAIT_MS;
    while (!read().includes(text)) {
      if (!started.has(this.child) || Date.now() > late) throw new Error(`it never showed "${text}":\n${read()}`);
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
        setTimeout(resolve, 1_000);
      });
    }
  }

  #newest(): string {
    const raw = this.#raw;
    const last = raw.lastIndexOf(DRAW);
    const isWhole = last < 0 || raw.includes(DRAWN, last);
    const from = isWhole ? last : raw.lastIndexOf(DRAW, last - 1);
    return plain(raw.slice(Math.max(0, from), isWhole ? undefined : last));
  }

  #tell(what: object): void {
    this.child.stdin.write(`${JSON.stringify(what)}\n`);
  }
}

function plain(text: string): string {
  return text.replace(SEQUENCES, '').replaceAll('\r', '');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
