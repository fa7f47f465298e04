/** One encoding: a call of a tool is the same call by whichever way it comes. */

import type { Value, ValueMap } from '@reprise/contracts';
import { encode, toHex } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deep, spread, stepOf } from '../../../conformance/part.js';
import { ANOTHER_CALL } from '../src/pure/contracts/index.js';
import { SOCIETY_TOOLS, type SocietyToolName } from '../src/pure/index.js';
import { fileSchema } from '../src/wire/index.js';
import { anyJson } from './support/any-json.js';
import {
  answersIn,
  callsIn,
  isCommand,
  openFourWays,
  recordsAfter,
  resolved,
  TOOLS,
  WAYS,
} from './support/four-ways.js';

const SEED = 35;

/** Any arguments of a tool that its schema accepts, without a `command_id`. */
function anyArgs(tool: SocietyToolName): fc.Arbitrary<ValueMap> {
  const { args: stated } = SOCIETY_TOOLS[tool];
  return anyJson(fileSchema(stated, 'input'))
    .map((args) => {
      const { command_id: _, ...rest } = args as ValueMap & { readonly command_id?: Value };
      return rest as ValueMap;
    })
    .filter((args) => stated.safeParse(args).success && encode(args).length < 6_000);
}

/** What a call was recorded as. */
async function recordedCall(at: Awaited<ReturnType<typeof openFourWays>>, seq: number, tool: SocietyToolName) {
  const [call, ...others] = callsIn(await recordsAfter(at.world, seq)).filter(({ name }) => name === tool);
  expect([tool, call === undefined, others.length <= 1]).toEqual([tool, false, true]);
  const { name = '', args = null, call_id } = call ?? {};
  return { name, bytes: toHex(encode(await resolved(at.world, tool, args))), call_id };
}

describe('one encoding of calls', () => {
  it.each(TOOLS)(
    `records the same name, arguments and ids for %s by method, use, model and MCP (seed ${SEED}) [SOC-73]`,
    async (tool) => {
      const worlds = await Promise.all(WAYS.map(openFourWays));
      const samples = fc.sample(fc.tuple(anyArgs(tool), fc.uuid()), { numRuns: 6 / stepOf(3), seed: SEED });
      for (const [args, id] of samples) {
        const calls = await Promise.all(
          WAYS.map(async (way, n) => {
            const at = worlds[n] as (typeof worlds)[number];
            const { seq } = at.world.kernel.head;
            await at.call(way, tool, args, id).catch(onlyRefusals);
            return recordedCall(at, seq, tool);
          }),
        );
        const [first] = calls;
        for (const [n, { name, bytes, call_id }] of calls.entries())
          expect([WAYS[n], name, bytes, call_id ?? id]).toEqual([WAYS[n], tool, first?.bytes, id]);
      }
      for (const { world } of worlds) await world.close();
    },
  );

  deep('one encoding: again', () => {
    it(`answers a command that is sent again by another way with the outcome of the first, for each tool and each two ways (seed ${SEED}) [SOC-74]`, async () => {
      await using at = await openFourWays();
      for (const tool of TOOLS.filter(isCommand)) {
        const all = WAYS.flatMap((one) => WAYS.filter((other) => other !== one).map((other) => [one, other] as const));
        const pairs = spread(4, all);
        const samples = fc.sample(fc.tuple(anyArgs(tool), fc.uuid()), { numRuns: pairs.length, seed: SEED });
        for (const [n, [one, other]] of pairs.entries()) {
          const [args, drawn] = samples[n] as (typeof samples)[number];
          const id = `${tool} ${drawn}`;
          const { seq } = at.world.kernel.head;
          const outcomes = [
            await at.call(one, tool, args, id).then(() => 'done', onlyRefusals),
            await at.call(other, tool, args, id).then(() => 'done', onlyRefusals),
          ];
          expect([tool, one, other, outcomes.includes('request_conflict')]).toEqual([tool, one, other, false]);
          const records = await recordsAfter(at.world, seq);
          const [first, ...repeated] = answersIn(records);
          for (const answer of repeated) expect([tool, one, other, answer]).toEqual([tool, one, other, first]);
          const judged = records.filter(
            (record) => record.kind === 'event' && record.event.name === 'society/Checked@1',
          );
          expect([tool, one, other, judged.length <= 1]).toEqual([tool, one, other, true]);
        }
      }
    });
  });

  it('the entity refuses a model that asks for something else under the id of a command, and does nothing [SOC-74]', async () => {
    await using at = await openFourWays();
    const note = { type: 'note', visibility: 'private', content: 'One.' };
    await at.call('use', 'memory_write_warm', note, 'same');
    const { seq } = at.world.kernel.head;
    await at.call('model', 'memory_write_warm', { ...note, type: 'other' }, 'same');
    expect(answersIn(await recordsAfter(at.world, seq))).toEqual([{ value: ANOTHER_CALL, is_error: true }]);
    await expect(at.ann.memory.read('private:ann#2')).rejects.toMatchObject({ details: { reason: 'item_unknown' } });
  });

  it('a method refuses an id of the options that differs from the command_id, before anything is recorded', async () => {
    await using at = await openFourWays();
    const { head } = at.world.kernel;
    const args = { group_id: 'crew', on: true, command_id: 'one' };
    await expect(at.ann.use('group_emcon', args, { id: 'two' })).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(at.world.kernel.head).toEqual(head);
  });
});

/** The reason of a refusal of the entity, and the code of another error that the call may end with. */
function onlyRefusals(error: { readonly code?: string }): string {
  if (error.code === 'request_rejected' || error.code === 'request_conflict') return error.code;
  throw error;
}
