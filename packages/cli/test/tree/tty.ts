/** Starts `reprise tree` in a pseudo-terminal, as a person does, and reads its screen. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';

const PTY = fileURLToPath(
  new URL('../../../../examples/coding-agent/test/terminal/pseudo-terminal.py', import.meta.url),
);
const BIN = fileURLToPath(new URL('../../src/bin.ts', import.meta.url));
const WAIT_MS = 60_000;

const started = new Set<ChildProcessWithoutNullStreams>();

afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started.clear();
});

/** Whether this machine can make a pseudo-terminal for a test; prints why if it cannot. */
export function hasPty(): boolean {
  const { status } = spawnSync('python3', ['-c', 'import pty, termios']);
  if (status !== 0) console.log('skipped: python3 with its module pty is not installed');
  return status === 0;
}

/** The command in a terminal. */
export interface Tty {
  /** The rows of the newest redraw, without escape sequences. */
  screen(): readonly string[];
  /** Everything that was printed, without escape sequences. */
  out(): string;
  /** How often the screen was drawn. */
  redraws(): number;
  send(text: string): void;
  /** Waits until the newest redraw, or what was printed behind it, has a text. */
  until(text: string): Promise<void>;
  readonly ended: Promise<number | null>;
}

/** Starts the command. */
export function openTty(cwd: string, args: readonly string[], columns = 100, rows = 24): Tty {
  const program = [
    process.execPath,
    '--conditions=@reprise/source',
    '--import',
    import.meta.resolve('tsx'),
    BIN,
    ...args,
  ];
  const child = spawn('python3', [PTY, String(columns), String(rows), ...program], {
    cwd,
    env: { ...process.env, TERM: 'xterm-256color' },
  });
  started.add(child);
  let raw = '';
  child.stdout.on('data', (bytes: Buffer) => {
    raw += bytes;
  });
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      started.delete(child);
      resolve(code);
    });
  });
  const newest = (): string => plain(raw.slice(Math.max(0, raw.lastIndexOf(DRAW))));
  return {
    screen: () => newest().split('\n'),
    out: () => plain(raw),
    redraws: () => raw.split(DRAW).length - 1,
    send: (text) => void child.stdin.write(`${JSON.stringify({ write: Buffer.from(text).toString('base64') })}\n`),
    until: async (text) => {
      const late = Date.now() + WAIT_MS;
      while (!newest().includes(text)) {
        if (Date.now() > late) throw new Error(`it never showed "${text}":\n${newest()}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    ended,
  };
}

/** Begins each redraw. */
const DRAW = '\u001b[?2026h';

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is driven by them
const SEQUENCES = /\u001b\[[0-9;?]*[a-zA-Z]/g;

function plain(text: string): string {
  return text.replace(SEQUENCES, '').replaceAll('\r', '');
}
