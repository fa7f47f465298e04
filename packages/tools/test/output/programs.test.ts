/** What programs may print to break their reader: every call ends in time, within its bounds. */

import { spawn } from 'node:child_process';
import { defineTool } from '@reprise/agent';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { inFull, stepOf } from '../../../../conformance/part.js';
import { anyProgram, faultsOf, type Program } from './programs.js';

const SEED = 20_261_123;
const NUM_RUNS = Number(process.env.REPRISE_PROGRAMS ?? 12 / stepOf(3));

const ENDLESS: Program = { command: 'yes', end: /failed: it ran longer than 1 s and was killed$/ };
/** More than the memory bound, and the same amount on every machine: `yes` prints more the faster it is. */
const LARGE: Program = { command: 'yes | head -c 201326592', end: /./ };
/** How long a slow machine may take to print it, in milliseconds. */
const LARGE_WITHIN_MS = 60_000;
const LEFT_BEHIND: Program = {
  command: "setsid timeout 40 yes 'left behind' </dev/null & sleep 0.3; exit 0",
  end: /\[exit 0; a process that it left behind prints on\]$/,
};
const DRIPS: Program = {
  command: "setsid timeout 40 sh -c 'while :; do echo drip; sleep 0.1; done' & sleep 0.3; exit 0",
  end: /\[exit 0; a process that it left behind prints on\]$/,
};

/** A shell that a careless author would write. @param killedAfterMs how long its programs may run, in milliseconds */
function carelessShell(readOn: boolean, killedAfterMs = 1_000) {
  return defineTool({
    name: 'run_shell',
    description: 'Runs a command.',
    args: z.strictObject({ command: z.string() }),
    family: 'process',
    run: ({ command }) =>
      new Promise<string>((resolve) => {
        const child = spawn('/bin/sh', ['-c', command], { detached: true });
        const all: Buffer[] = [];
        child.stdout.on('data', (bytes: Buffer) => void all.push(bytes));
        child.stderr.on('data', (bytes: Buffer) => void all.push(bytes));
        const clock = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), killedAfterMs);
        child.once('exit', () => clearTimeout(clock));
        child.once(readOn ? 'close' : 'exit', () => resolve(Buffer.concat(all).toString()));
      }),
  });
}

describe.runIf(process.platform === 'linux')(`the output of programs (seed ${SEED})`, () => {
  it('random programs that print in every way are answered in time, within bounds, with their end', async () => {
    const law = fc.asyncProperty(anyProgram, async (program) => {
      expect(await faultsOf(program), program.command).toEqual([]);
    });
    await fc.assert(law, { seed: SEED, numRuns: NUM_RUNS, endOnFailure: true });
  });

  it.each([
    ['without end', ENDLESS],
    ['without end by a process that left the group', LEFT_BEHIND],
    ['slowly by a process that left the group', DRIPS],
  ])('output that is printed %s ends with its program', async (_, program) => {
    expect(await faultsOf(program)).toEqual([]);
  });

  it('mutant: a tool that collects its output exceeds the memory bound', async () => {
    const tool = () => carelessShell(false, LARGE_WITHIN_MS);
    expect((await faultsOf(LARGE, tool, LARGE_WITHIN_MS / 1_000)).join()).toContain('MiB');
  });

  inFull(() => {
    it('mutant: a tool that waits for the end of its pipes gives no answer in time', async () => {
      expect(await faultsOf(DRIPS, () => carelessShell(true), 4)).toContain('no answer in time');
    });
  });
});
