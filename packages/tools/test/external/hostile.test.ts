/** Agents that send too much, or invalid messages: in a process with little memory, within a bound on time. */

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spread } from '../../../../conformance/part.js';
import { program } from '../../../../scripts/lib/program.js';
import { CPU_MS, runSmall } from '../support/small-process.js';

const AGENT = fileURLToPath(new URL('hostile-agent.mjs', import.meta.url));
const HOST = await program(new URL('hostile-host.ts', import.meta.url));

/** The memory in MiB that one turn may use on top of the host's. */
const MORE_MB = 200;

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
  it.each(spread(3, CASES))(
    'the case "%s" is handled in bounded memory and time, with a reason [TOOL-34]',
    async (how, expected) => {
      const { came, more, longestTurn, took } = await runSmall(how, HOST, [AGENT, how]);
      console.info(`${how}: ${more} MiB more, a turn took ${longestTurn} ms, took ${took} ms of CPU`);
      expect(came).toMatch(expected);
      expect(more).toBeLessThan(MORE_MB);
      expect(took).toBeLessThan(CPU_MS);
    },
  );
});
