/** What `reprise trouble` says of a world that another process has open, or had. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { program } from '../../../../scripts/lib/program.js';
import { runCli } from '../../../cli/src/index.js';

/** How the command ended. */
export interface Commanded {
  readonly code: number;
  /** The codes that it listed. */
  readonly codes: readonly string[];
}

/** Runs `reprise trouble` as a process of its own. */
export async function asProcess(world: string): Promise<Commanded> {
  const bin = await program(new URL('../../../cli/src/bin.ts', import.meta.url));
  const { out, code } = await ended(bin, 'trouble', world, '--json');
  return { code: code ?? -1, codes: codesIn(out) };
}

/** Runs the same command in this process, which costs a tenth. */
export async function inProcess(world: string): Promise<Commanded> {
  let out = '';
  const sink = (take: (text: string) => void) => ({
    isTTY: false,
    closed: false,
    write: async (text: string) => take(text),
  });
  const io = {
    out: sink((text) => {
      out += text;
    }),
    err: sink(() => undefined),
    interrupted: () => new AbortController().signal,
  };
  return { code: await runCli(['trouble', world, '--json'], io), codes: codesIn(out) };
}

/** Runs a program of this folder until it ends. @returns the signal that ended it */
export async function run(file: string, ...args: readonly string[]): Promise<NodeJS.Signals | null> {
  return (await ended(await program(new URL(file, import.meta.url)), ...args)).signal;
}

async function ended(file: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, ['--no-warnings', file, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { out, code, signal };
}

function codesIn(out: string): readonly string[] {
  const { trouble, error } = JSON.parse(out) as {
    readonly trouble?: readonly { readonly code: string }[];
    readonly error?: { readonly code: string };
  };
  return error === undefined ? (trouble ?? []).map(({ code }) => code) : [`refused ${error.code}`];
}
