/** Agents that send too much, or invalid messages: in a process with little memory, within a bound on time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const AGENT = fileURLToPath(new URL('hostile-agent.mjs', import.meta.url));
const HOST = fileURLToPath(new URL('hostile-host.ts', import.meta.url));
const LOADER = createRequire(import.meta.url).resolve('tsx');

/** The host's heap in MiB, its time in milliseconds, and the memory that one turn may use on top. */
const HEAP_MB = 192;
const WALL_MS = 50_000;
const MORE_MB = 200;

const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
});

interface Came {
  readonly came: string;
  readonly more: number;
  readonly longestWait: number;
  readonly took: number;
}

async function come(how: string): Promise<Came> {
  const argv = [
    `--max-old-space-size=${HEAP_MB}`,
    '--conditions=@reprise/source',
    '--import',
    LOADER,
    HOST,
    AGENT,
    how,
  ];
  const host = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(host);
  const clock = setTimeout(() => host.kill('SIGKILL'), WALL_MS);
  let printed = '';
  host.stdout.on('data', (bytes) => {
    printed += String(bytes);
  });
  const ended = await new Promise((resolve) => host.on('close', (code, signal) => resolve(signal ?? code)));
  clearTimeout(clock);
  expect(ended, `${how}: ${printed}`).toBe(0);
  return JSON.parse(printed) as Came;
}

const CASES: readonly (readonly [string, RegExp])[] = [
  ['a line without an end', /^unknown: .*the program exceeded a bound: a message has more than 16777216 bytes/],
  ['a message of endless text', /^unknown: .*the program exceeded a bound: a message has more than 16777216 bytes/],
  ['a message of many little things', /^unknown: .*a message has more than 250000 values/],
  ['a message that nests', /^unknown: .*a message is nested deeper than 256/],
  ['text without an end', /^unknown: .*one turn sent more than 16777216 characters/],
  ['words without an end', /^unknown: .*one turn sent more than 16777216 characters/],
  ['requests without an end', /^unknown: .*it does not read its input/],
  ['calls of long names', /^ok: (\[.{0,210}: .{0,32}\]\n){64}|^ok: \[/],
  ['what is no message', /^ok: /],
  ['an answer that is an error of nothing', /^ok: /],
  ['an error that is no error', /^failed: it failed \(d{200,}/],
  ['nothing special', /^ok: hello/],
];

describe('a hostile external agent', () => {
  it.each(CASES)(
    'the case "%s" is handled in bounded memory and time, with a reason [TOOL-34]',
    async (how, expected) => {
      const { came, more, longestWait, took } = await come(how);
      console.info(`${how}: ${more} MiB more, waited ${longestWait} ms, took ${took} ms`);
      expect(came).toMatch(expected);
      expect(more).toBeLessThan(MORE_MB);
      expect(took).toBeLessThan(WALL_MS - 10_000);
    },
    WALL_MS + 10_000,
  );
});
