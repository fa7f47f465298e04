/** Runs the command: in this process when only arguments matter, otherwise as a separate process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runCli, type Sink } from '../src/index.js';

/** How a run of the command ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const BIN = fileURLToPath(new URL('../src/bin.ts', import.meta.url));

/** Runs the command in this process. */
export function run(...args: string[]): Promise<Ended> {
  return runOn(undefined, ...args);
}

/** Runs the command in this process, as on a terminal with so many columns. */
export async function runOn(columns: number | undefined, ...args: string[]): Promise<Ended> {
  const [out, err] = [collector(columns), collector(columns)];
  const code = await runCli(args, { out, err, interrupted: () => new AbortController().signal });
  return { code, out: out.text(), err: err.text() };
}

function collector(columns: number | undefined): Sink & { text(): string } {
  let text = '';
  return {
    isTTY: columns !== undefined,
    columns,
    closed: false,
    write: async (more) => {
      text += more;
    },
    text: () => text,
  };
}

/** Starts the command as a separate process. */
export function start(cwd: string, ...args: string[]): ChildProcess {
  return startProgram(cwd, BIN, ...args);
}

/** Starts a program of the tests as a separate process. */
export function startProgram(cwd: string, file: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, ['--conditions=@reprise/source', '--import', TSX, file, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs the command as a separate process until it exits. */
export async function command(cwd: string, ...args: string[]): Promise<Ended> {
  return ended(start(cwd, ...args));
}

/** Waits for a process to exit and returns its output. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const texts = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    texts.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    texts.err += text;
  });
  const [code] = await once(child, 'close');
  return { code, ...texts };
}
