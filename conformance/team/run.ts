/** Owners of projects as processes: started, killed from outside, and heard. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle, type Planted } from '../bundle.js';

/** A folder that is removed in the end. */
export async function inFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-team-'));
  try {
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One of the programs beside this file, as one file of JavaScript. @returns its path */
export async function programIn(folder: string, name: string, planted?: Planted): Promise<string> {
  const program = path.join(folder, `${name.replaceAll('/', '-')}.mjs`);
  const entry = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
  await bundle(entry, program, planted === undefined ? {} : { planted });
  return program;
}

/** Loads one of the modules beside this file with a mistake in it. */
export async function withPlanted<M, T>(name: string, planted: Planted, act: (broken: M) => Promise<T>): Promise<T> {
  return inFolder(async (folder) => {
    const program = await programIn(folder, name, planted);
    return act((await import(pathToFileURL(program).href)) as M);
  });
}

/** How a process ended. */
export interface Ended {
  /** What it said behind `ended `; undefined when it was killed. */
  readonly said: unknown;
  readonly code: number | null;
  readonly out: string;
}

/** Runs a program to its end, or kills it some time after it has said `open`; a program may kill itself as well. */
export function run(argv: readonly string[], killAfter?: number): Promise<Ended> {
  const owner = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  return watch(owner, killAfter);
}

function watch(owner: ChildProcess, killAfter: number | undefined): Promise<Ended> {
  let out = '';
  owner.stdout?.on('data', (piece) => {
    const wasOpen = /^open$/m.test(out);
    out += String(piece);
    if (wasOpen || killAfter === undefined || !/^open$/m.test(out)) return;
    setTimeout(() => owner.kill('SIGKILL'), killAfter);
  });
  return new Promise((resolve, reject) => {
    owner.on('error', reject);
    owner.on('close', (code, signal) => {
      const ended = /^ended (.*)$/m.exec(out)?.[1];
      if (ended !== undefined) resolve({ said: JSON.parse(ended), code, out });
      else if (signal === 'SIGKILL' || code === 0) resolve({ said: undefined, code, out });
      else reject(new Error(`${path.basename(owner.spawnargs[1] ?? '')} exits with ${code}: ${out}`));
    });
  });
}
