/**
 * Whatever texts and ids the calls of a model have, each is answered and no session fails: the tools for children, which a
 * session executes itself, and an ordinary tool.
 */
import { type Value, wellFormed } from '@reprise/contracts';
import { faultsOf } from '@reprise/testkit';
import { anyArguments, anyTextAround, boundArguments, type JsonSchema, ODD_TEXTS } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { childTools, defineAgent, defineTool, type Tool } from '../../src/index.js';
import { play, type Step } from '../api/scene.js';

/** Calls of each tool; the long form of the law sets more. */
const CALLS = Number(process.env.REPRISE_ARGUMENT_CALLS ?? 30);
const SEED = Number(process.env.REPRISE_SEED ?? 20260101);
const CALLS_IN_STEP = 5;

const echo = defineTool({
  name: 'echo',
  description: 'Echoes.',
  args: z.strictObject({
    text: z.string().min(1).max(120),
    names: z.record(z.string().max(16), z.string()).optional(),
  }),
  run: ({ text }) => text,
});
const scout = defineAgent({ name: 'scout', model: 'other', instructions: 'Scout.' });
const tools = [echo, ...childTools(['scout'])];
const boss = defineAgent({ name: 'boss', model: 'main', instructions: 'Lead.', tools: [echo], spawns: [scout] });

const known = { child: ['c1', 'c2', 'c99'], children: [['c1'], ['c1', 'c2']], agent: ['scout'] };
const ids = fc.oneof(fc.constantFrom(...ODD_TEXTS), anyTextAround({ max: 128 })).map(wellFormed);

/** The steps of a model that makes these calls, a few in each; steps of children among them say that they are done. */
function stepsOf({ name, entry }: Tool): readonly Step[] {
  const schema = entry.schema as JsonSchema;
  const args = [
    ...boundArguments(schema, { known }),
    ...fc.sample(anyArguments(schema, { known, lone: false }), { seed: SEED, numRuns: CALLS }),
  ];
  const calls = fc.sample(ids, { seed: SEED, numRuns: args.length }).map((id, i) => ({
    id,
    tool: name,
    args: args[i] as Value,
  }));
  const steps: Step[] = [];
  for (let i = 0; i < calls.length; i += CALLS_IN_STEP) steps.push({ calls: calls.slice(i, i + CALLS_IN_STEP) });
  return steps;
}

describe(`given ${CALLS} calls of each tool for children, each with an odd text and an odd id (seed ${SEED})`, () => {
  it.each(tools.map((tool) => [tool.name, tool as Tool] as const))(
    'every call of %s is answered, and no session fails [SCH-6, SCH-8]',
    async (_, tool) => {
      for (const step of stepsOf(tool)) {
        // The children of a call take their answers from the same script.
        const steps = [step, ...Array.from({ length: CALLS_IN_STEP + 1 }, () => ({ text: 'Done.' }))];
        await play({ agents: [boss, scout], steps }, async ({ world, llm, settle }) => {
          await world.session('b', boss).send('Begin.');
          await settle();
          expect(await faultsOf(world.kernel), JSON.stringify(step).slice(0, 1_000)).toEqual([]);
          const state = await world.session('b', boss).state();
          const isWaiting = state?.calls.some(({ phase }) => phase === 'children') === true;
          expect(isWaiting || llm.asked.length > 1, JSON.stringify(step).slice(0, 1_000)).toBe(true);
        });
      }
    },
  );
});
