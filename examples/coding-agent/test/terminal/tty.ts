/** Starts the command in a pseudo-terminal, as a person does. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const PTY = fileURLToPath(new URL('pseudo-terminal.py', import.meta.url));
const WAIT_MS = 60_000;
/** Longer than two keys of one burst, and longer than a question waits before it is drawn. */
const KEY_MS = 60;
/** How long a key may take to be drawn. */
const DRAWN_MS = 2_000;

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
  readonly env?: Readonly<Record<string, string>>;
}

/** The command in a terminal. */
export interface Tty {
  /** What it has printed since a mark, without escape sequences. */
  out(since?: number): string;
  /** What it has printed, with escape sequences. */
  raw(): string;
  /** The place in the output up to now. */
  mark(): number;
  /** Sends bytes at once, as a paste or a key does. */
  send(text: string): void;
  /** Presses keys one by one, with the pauses of a person. */
  press(...keys: readonly string[]): Promise<void>;
  /** Types a line key by key, and presses Enter. */
  type(line: string): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Sends a signal to the command. */
  kill(signal: number): void;
  /** Waits until it has printed a text since a mark. */
  until(text: string, since?: number): Promise<string>;
  readonly ended: Promise<number | null>;
}

/** Starts the command in a pseudo-terminal. */
export function openTty(args: readonly string[], { columns = 100, rows = 30, env = {} }: TtyOptions = {}): Tty {
  const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ANTHROPIC_API_KEY: ___, ...own } = process.env;
  const program = [
    process.execPath,
    '--conditions=@reprise/source',
    '--import',
    import.meta.resolve('tsx'),
    MAIN,
    ...args,
  ];
  const child = spawn('python3', [PTY, String(columns), String(rows), ...program], {
    env: { ...own, TERM: 'xterm-256color', NO_COLOR: '1', ...env },
  });
  started.add(child);
  let raw = '';
  let heard: () => void = () => undefined;
  child.stdout.on('data', (bytes: Buffer) => {
    raw += bytes;
    heard();
  });
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      started.delete(child);
      resolve(code);
      heard();
    });
  });
  const ask = (what: object): void => void child.stdin.write(`${JSON.stringify(what)}\n`);
  const send = (text: string): void => ask({ write: Buffer.from(text).toString('base64') });
  const pause = () => new Promise((resolve) => setTimeout(resolve, KEY_MS));
  const out = (since = 0): string => raw.slice(since).replace(SEQUENCES, '').replaceAll('\r', '');
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) {
      const before = raw.length;
      send(key);
      // Every key draws; on a busy machine, two keys would otherwise be read at once, which counts as a paste.
      const late = Date.now() + (key === '' ? 0 : DRAWN_MS);
      while (raw.length === before && Date.now() < late) await pause();
      await pause();
    }
  };
  return {
    out,
    raw: () => raw,
    mark: () => raw.length,
    send,
    press,
    type: (line) => press(...line, '\r'),
    resize: (...size) => ask({ size }),
    kill: (signal) => ask({ kill: signal }),
    until: async (text, since = 0) => {
      const late = Date.now() + WAIT_MS;
      while (!out(since).includes(text)) {
        if (!started.has(child) || Date.now() > late) throw new Error(`it never showed "${text}":\n${out(since)}`);
        await new Promise<void>((resolve) => {
          heard = resolve;
          setTimeout(resolve, 1_000);
        });
      }
      return out(since);
    },
    ended,
  };
}

const SEQUENCES = new RegExp(`${'\u001b'}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${'\u0007'}]*${'\u0007'}|[@-Z\\\\-_])`, 'g');
