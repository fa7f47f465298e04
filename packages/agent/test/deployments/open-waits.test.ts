/** Waits that run no code of a tool when they are settled: they stay valid, whatever a deployment changes. */
import { memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AnyAgent, deferred, defineAgent, defineOwnerTool, defineTool } from '../../src/index.js';
import { play } from '../api/scene.js';
import { member, type memberTools, teams } from '../parts/team.js';

const owner = (description: string, args: z.ZodObject) =>
  defineOwnerTool({ name: 'ask_people', description, args }) as (typeof memberTools)[number];
const asMember = (tools: typeof memberTools): AnyAgent =>
  defineAgent({ name: 'member', model: 'main', instructions: 'Work.', tools });

const NEXT: readonly (readonly [string, AnyAgent])[] = [
  ['other words', asMember([owner('Asks a person.', z.strictObject({ text: z.string() }))])],
  ['other arguments', asMember([owner('The tool ask_people.', z.strictObject({ who: z.int() }))])],
  ['no such tool', asMember([])],
];

describe('a wait that runs no code of a tool when it is settled', () => {
  it.each(NEXT)('a call that its owner answers stays valid in a build with %s [TOOL-53]', async (_, next) => {
    const store = memory();
    const clock = new VirtualClock();
    const parts = teams();
    const asks = { calls: [{ id: 'c0', tool: 'ask_people', args: { text: 'Red or blue?' } }] };
    const first = { agents: [member], parts: [parts], steps: [asks], store, clock, goesOn: true };
    await play(first, async ({ world, settle }) => {
      await world.part(parts).start('Choose.');
      await settle();
      expect(await world.pending()).toHaveLength(1);
    });
    const later = teams([], [next]);
    await play({ agents: [next], parts: [later], steps: [{ text: 'Red.' }], store, clock }, async (scene) => {
      const [item] = await scene.world.pending();
      expect(await scene.world.decide(item ?? '', { answer: 'red' }, { as: 'human:ann' })).toEqual({
        status: 'applied',
      });
      await scene.settle();
      expect(scene.llm.asked.at(-1)?.transcript.at(-1)).toBe('owner c0: "test/Told@1" answer: red');
    });
  });

  it('a call that an outside service settles stays valid in a build without its tool [TOOL-53]', async () => {
    const store = memory();
    const clock = new VirtualClock();
    let effect = '';
    const order = defineTool({
      name: 'order',
      description: 'Orders.',
      args: z.strictObject({}),
      run: (_, { idempotencyKey }) => {
        effect = idempotencyKey;
        return deferred();
      },
    });
    const buyer = (tools: readonly (typeof order)[]) =>
      defineAgent({ name: 'buyer', model: 'main', instructions: 'Buy.', tools });
    const agent = buyer([order]);
    const steps = [{ calls: [{ id: 'c', tool: 'order' }] }];
    await play({ agents: [agent], steps, store, clock, goesOn: true }, async ({ world, settle }) => {
      await world.session('s', agent).send('Buy.');
      await settle();
    });
    await play({ agents: [buyer([])], steps: [{ text: 'Done.' }], store, clock }, async ({ world, llm, settle }) => {
      const ref = await world.kernel.content.put(new TextEncoder().encode('it came'));
      const meta = { original_bytes: 7, bounded_bytes: 7, truncated: false, policy_id: 'default' };
      const payload = { operator_output_ref: ref, model_output_ref: ref, truncation_meta: meta, is_error: false };
      expect(await world.settle(effect, { status: 'ok', payload })).toMatchObject({ status: 'applied' });
      await settle();
      expect(llm.asked.at(-1)?.transcript.at(-1)).toBe('tool c: it came');
    });
  });
});
