/**
 * Servers that send too much, over pipes and over HTTP: in a process with little memory, within a bound on time.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { program } from '../../../../scripts/lib/program.js';
import { type Came, CPU_MS, endWithTests, runSmall } from '../support/small-process.js';

const SERVER = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));
const HOST = await program(new URL('hostile-host.ts', import.meta.url));

/** The memory in MiB that one message may use on top of the host's. */
const MORE_MB = 160;

/** The most CPU time between two turns of the event loop, in milliseconds. */
const TURN_MS = 3_000;

type Way = 'pipe' | 'json' | 'events' | 'gzip';

async function come(how: string, way: Way): Promise<Came> {
  const server = way === 'pipe' ? { command: [process.execPath, SERVER, how] } : { url: await addressOf(how, way) };
  return runSmall(how, HOST, [JSON.stringify(server)]);
}

async function addressOf(how: string, way: Way): Promise<string> {
  const server = endWithTests(spawn(process.execPath, [SERVER, how, way], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const port = await new Promise((resolve) => server.stdout.once('data', (bytes) => resolve(Number(String(bytes)))));
  return `http://127.0.0.1:${port}/mcp`;
}

const CASES: readonly (readonly [string, readonly Way[], RegExp])[] = [
  ['a huge text', ['pipe', 'json', 'events', 'gzip'], /^outcome_unknown: .*more than 16777216 bytes/],
  ['endless', ['pipe', 'json', 'events'], /^outcome_unknown: .*more than 16777216 bytes/],
  ['escapes', ['pipe', 'events'], /^outcome_unknown: .*more than 16777216 bytes/],
  ['a huge list of little things', ['pipe', 'json', 'events'], /^outcome_unknown: .*more than 250000 values/],
  ['little things within the bytes', ['pipe', 'json', 'events'], /^outcome_unknown: .*more than 250000 values/],
  ['deep', ['pipe', 'json'], /^outcome_unknown: .*nested deeper than 256/],
  [
    'many tools',
    ['pipe', 'json', 'events'],
    /^unreachable: .*(more than 250000 values|offers 100000 tools; at most 4096)/,
  ],
  ['some thousand tools', ['pipe', 'json'], /^unreachable: hostile offers 6000 tools; at most 4096 are allowed/],
  ['endless pages', ['pipe', 'json'], /^ok: hello/],
  ['pages in a circle', ['pipe', 'json'], /^ok: hello/],
  ['a huge list', ['pipe', 'json', 'events'], /^unreachable: .*more than 16777216 bytes/],
  ['large pages', ['pipe', 'json', 'events'], /^unreachable: .*its list of tools has more than 33554432 bytes/],
  ['a large image', ['pipe', 'json', 'events'], /^ok: \[file talk\.png: image\/png, \d+ bytes/],
  ['nothing special', ['pipe', 'json', 'events', 'gzip'], /^ok: hello/],
];

describe('a server that sends too much', () => {
  const isLong = stepOf(2) === 1; // all transports; otherwise one transport for each case
  const tried = CASES.flatMap(([how, ways, expected], at) =>
    ways.flatMap((way, n) => (isLong || n === at % ways.length ? [[how, way, expected] as const] : [])),
  );
  it.each(tried)(
    'the case "%s" over %s is handled in bounded memory and time, with a reason [TOOL-34]',
    async (how, way, expected) => {
      const { came, more, longestTurn, took } = await come(how, way);
      expect(came).toMatch(expected);
      expect(more).toBeLessThan(MORE_MB);
      expect(longestTurn).toBeLessThan(TURN_MS);
      expect(took).toBeLessThan(CPU_MS);
      console.info(`${how} over ${way}: ${more} MiB more, a turn took ${longestTurn} ms, took ${took} ms of CPU`);
    },
  );
});
