/** Runs the command: in this process when only arguments matter, otherwise as a separate process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { program } from '../../../scripts/lib/program.js';
import { runCli, type Sink } from '../src/index.js';

/** How a run of the command ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const BIN = new URL('../src/bin.ts', import.meta.url);

/** The command, as a file that Node runs. It cannot load apps, which are sources and share packages with the command. */
export const PROGRAM = await program(BIN);

/** The arguments of Node that run the command from its sources. */
const FROM_SOURCES = ['--conditions=@reprise/source', '--import', import.meta.resolve('tsx'), fileURLToPath(BIN)];

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
  return startProgram(cwd, ...commandLine(...args));
}

/** The arguments of Node that run the command: from its sources when it loads an app that is one. */
export function commandLine(...args: string[]): string[] {
  const loadsSource = args.includes('--app') && args.some((arg) => arg.endsWith('.ts'));
  return [...(loadsSource ? FROM_SOURCES : [PROGRAM]), ...args];
}

/** Starts a program of the tests as a separate process. @param args the file that Node runs, and its arguments */
export function startProgram(cwd: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
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
