/**
 * Whatever texts a node's call has, it is answered and no cell fails. The model of each node calls the tools with arguments
 * that are made from the schemas that it is shown, each with one text that is odd or at a bound, under ids that are odd too.
 */
import { faultsOf } from '@reprise/testkit';
import { anyArguments, boundArguments, type JsonSchema } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { nodeTools } from '../../src/tools/node-tools.js';
import { type Answers, forest } from '../api/forest.js';

/** Calls of each tool; the long form of the law sets more. */
const CALLS = Number(process.env.REPRISE_ARGUMENT_CALLS ?? 40 / stepOf(10));
const SEED = Number(process.env.REPRISE_SEED ?? 20260101);

const tools = nodeTools({ returns: 'any', makes: true, unit: 'tokens', files: true, memory: 'write' });

const known = {
  node_id: [1, 2, 3],
  ask_id: [2, 3],
  agent: ['worker'],
  blocked_by: [[], [2]],
  schema: [{ type: 'object' }],
  budget_tokens: [10],
  ids: [[1]],
};

/** What the steps of the root call, in order: all calls of one step go to the tree together. */
function stepsOf(schema: JsonSchema, name: string): readonly (readonly object[])[] {
  const random = fc.sample(anyArguments(schema, { known, lone: false }), { seed: SEED, numRuns: CALLS });
  const args = [...boundArguments(schema, { known }), ...random];
  const steps: object[][] = [];
  for (const [i, one] of args.entries()) {
    if (i % 5 === 0) steps.push([]);
    steps.at(-1)?.push({ tool: name, args: one });
  }
  return steps;
}

describe(`given ${CALLS} calls of each tool of a node, each with an odd text (seed ${SEED})`, () => {
  it.each(tools.map(({ name, entry }) => [name, entry.schema as JsonSchema] as const))(
    'every call of %s is answered, and no cell of the world fails [SCH-6, SCH-8]',
    async (name, schema) => {
      const steps = stepsOf(schema, name);
      const heard: string[] = [];
      const answers: Answers = ({ n, step, request }) => {
        if (n !== 1) return { text: 'Done.' };
        heard.push(...request.messages.filter(({ role }) => role === 'tool').map(({ text }) => text));
        const calls = steps[step];
        return calls === undefined ? { text: 'Done.' } : ({ calls } as never);
      };
      await forest(
        answers,
        async ({ world, trees }) => {
          const tree = await trees.start('law', { goal: 'Survey the folder.' });
          await world.pump();
          expect(await tree.node(1)).toMatchObject({ n: 1 });
          expect(await faultsOf(world.kernel)).toEqual([]);
        },
        { endsAccepted: false },
      );
      expect(heard.length).toBeGreaterThan(0);
    },
  );
});
