/** Whatever a model and its tools say, a session goes on: what would be too large for its state or its log is data. */
import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { stepOf } from '../../../../conformance/part.js';
import { defineAgent, defineTool, type Tool, toolParts } from '../../src/index.js';
import { sizeOf } from '../../src/reducer/transcript/sizes.js';
import { play, type Step } from './scene.js';

const LIMITS = { callsPerStep: 64, steps: 200, toolRounds: 200 };
/** Three bytes a character. */
const wide = (n: number, length: number) => `${n}`.padEnd(length, '界');

const many = (count: number, make: (n: number) => { id?: string; tool: string; args?: never }): Step => ({
  calls: Array.from({ length: count }, (_, n) => make(n)),
});

/** Plays the steps and says how the run ended. */
async function ended(tools: readonly Tool[], steps: readonly Step[], more: object = {}) {
  const agent = defineAgent({
    name: 'a',
    model: 'main',
    instructions: 'Go.',
    tools: [...tools],
    limits: LIMITS,
    ...more,
  } as never);
  let stop: unknown;
  let asked = 0;
  let last: string | undefined;
  await play({ agents: [agent], steps: [...steps, { text: 'Done.' }] } as never, async ({ world, llm }) => {
    stop = (await (await world.session('s', agent as never).send('Go')).result()).stop;
    asked = llm.asked.length;
    last = llm.asked.at(-1)?.transcript.at(-1);
  });
  return { stop, asked, last };
}

const files = (count: number, length: number) =>
  defineTool({
    name: 'files',
    description: '',
    polling: true,
    args: z.strictObject({}),
    run: async (_, ctx) => {
      const made = [];
      for (let n = 0; n < count; n++)
        made.push({
          file: await ctx.put({ path: wide(n, length), bytes: new Uint8Array([n]), mediaType: wide(n, 100) }),
        });
      return toolParts('made', ...made);
    },
  }) as unknown as Tool;

const changing = defineTool({
  name: 'files',
  description: '',
  polling: true,
  args: z.strictObject({}),
  run: async (_, ctx) => {
    for (let n = 0; n < 16; n++)
      ctx.changed(wide(n, 1_024).replaceAll('界', 'x'), null, await ctx.content.put(new Uint8Array([n])));
    return 'changed';
  },
}) as unknown as Tool;

const quiet = defineTool({
  name: 'files',
  description: '',
  polling: true,
  args: z.strictObject({}),
  run: () => 'ok',
}) as unknown as Tool;
const COMPLETED = { kind: 'Completed' };

describe('a session at the bounds of its state', () => {
  it.each<[string, Tool, number, number]>([
    ['16 calls at once give 16 files each with paths of 1 KiB', files(16, 340), 16, 6],
    ['16 calls at once give 16 files each with paths of 3 KiB', files(16, 1_024), 16, 6],
    ['64 calls at once give 16 files each with paths of 3 KiB', files(16, 1_024), 64, 3],
    ['16 calls at once change 16 files each with paths of 1 KiB', changing, 16, 6],
  ])('a session continues when %s [SES-24]', async (_what, tool, calls, steps) => {
    const { stop, asked, last } = await ended(
      [tool],
      Array.from({ length: steps }, () => many(calls, () => ({ tool: 'files' }))),
    );
    expect([stop, asked, last]).toMatchObject([COMPLETED, steps + 1, expect.stringContaining('tool')]);
  });

  it.each([16, 64])(
    'a session whose model calls %i tools at once with ids of the largest size continues [SES-24]',
    async (calls) => {
      const steps = Array.from({ length: 5 }, () => many(calls, (n) => ({ id: wide(n, 128), tool: 'files' })));
      const { stop, asked } = await ended([quiet], steps);
      expect([stop, asked]).toMatchObject([COMPLETED, 6]);
    },
  );

  it.each([16, 64])(
    'a session whose model calls %i unknown tools with names and ids of the largest size continues [SES-24]',
    async (calls) => {
      const steps = Array.from({ length: 5 }, () => many(calls, (n) => ({ id: wide(n, 400), tool: wide(n, 400) })));
      const { stop, asked } = await ended([quiet], steps);
      expect([stop, asked]).toMatchObject([COMPLETED, 6]);
    },
  );

  it('a session continues whose user repeatedly sends sixteen files with the longest names [SES-24]', async () => {
    const agent = defineAgent({ name: 'a', model: 'main', instructions: 'Go.', tools: [] });
    const steps = Array.from({ length: 40 }, () => ({ text: 'Yes.' }));
    await play({ agents: [agent], steps }, async ({ world }) => {
      for (let n = 0; n < 40; n++) {
        const parts = Array.from({ length: 16 }, (_, i) => ({
          bytes: new Uint8Array([i]),
          name: wide(i, 256),
          mediaType: wide(i, 128),
        }));
        const run = await world.session('s', agent).send(parts as never);
        expect((await run.result()).stop).toMatchObject(COMPLETED);
      }
    });
  });
});

describe('the size of a value', () => {
  const long = (n: number, length: number) => `${n}`.padEnd(length, 'x');

  it('the estimated size of a value is never less than two thirds of its bytes, whatever its keys are (seed 14; again: npx vitest run packages/agent/test/api/state-bounds.test.ts) [SES-24]', async () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.maxSafeInteger(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 40 }),
        fc.dictionary(fc.oneof(fc.constant('hex'), fc.string({ maxLength: 30 })), tie('value'), {
          noNullPrototype: true,
        }),
      ),
    }));
    await fc.assert(
      fc.property(value, (one) => {
        expect(sizeOf(one) * 3).toBeGreaterThanOrEqual(encode(one as Value).length * 2);
      }),
      { seed: 14, numRuns: 2_000 / stepOf(4) },
    );
  });

  it('the estimated size of labels counts all of them, also one named hex [SES-24]', async () => {
    const labels = Object.fromEntries(
      ['hex', ...Array.from({ length: 11 }, (_, n) => long(n, 64))].map((name) => [name, long(0, 256)]),
    );
    const agent = defineAgent({ name: 'a', model: 'main', instructions: 'Go.', tools: [] });
    await play({ agents: [agent], steps: [] }, async ({ world }) => {
      await expect(world.session('s', agent, { labels }).send('Go')).rejects.toThrow(/labels_too_large/);
    });
  });
});
