/**
 * Whatever texts the call of a coordinator or a planner has, it is answered and no cell fails. The models call the tools with
 * arguments that are made from the schemas that they are shown, each with one text that is odd or at a bound.
 */

import { memoryTools } from '@reprise/org';
import { faultsOf } from '@reprise/testkit';
import { anyArguments, boundArguments, type JsonSchema } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { memory, openWorld } from 'reprise';
import type { ScriptStep } from 'reprise/providers';
import { skill, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { coordinatorTools, specialistTools } from '../src/tools/project-tools.js';
import { COORDINATOR, IDENTITY, played, says } from './support/roles.js';

/** Calls of each tool; the long form of the law sets more. */
const CALLS = Number(process.env.REPRISE_ARGUMENT_CALLS ?? 30 / stepOf(6));
const SEED = Number(process.env.REPRISE_SEED ?? 20260101);
/** A planner fails after three refusals. */
const CALLS_IN_STEP = 2;

const known = {
  skill: ['planner', 'clerk'],
  model: ['main'],
  task_id: [1],
  result_id: [1],
  context: ['Brief. '.repeat(40), '[agent_result:1]', '[agent_result:999]'],
  id: [1],
  ids: [[1]],
};

/** The steps in which a model makes calls, a few in each. */
function stepsOf(tool: string, schema: JsonSchema): readonly ScriptStep[] {
  const random = fc.sample(anyArguments(schema, { known, lone: false }), { seed: SEED, numRuns: CALLS });
  const all = [...boundArguments(schema, { known }), ...random].map((args) => ({ tool, args: args as never }));
  const steps: ScriptStep[] = [];
  for (let i = 0; i < all.length; i += CALLS_IN_STEP) steps.push({ calls: all.slice(i, i + CALLS_IN_STEP) });
  return steps;
}

/** Plays a project in which one role calls a tool, and everybody else says that it is done. */
async function playedBy(role: string, steps: readonly ScriptStep[]) {
  const { model, asked } = played({
    [COORDINATOR]: (said) =>
      said.includes('Begin.')
        ? [...(role === COORDINATOR ? steps : planned(steps.length)), says('Well.')]
        : [says('Well.')],
    planner: (said) => [
      ...steps.filter((_, i) => role === 'planner' && said.includes(`Plan part ${i}.`)),
      says('Done.'),
    ],
    clerk: () => [says('Done.')],
  });
  const law = team({
    name: 'law',
    skills: ['planner', 'clerk'].map((name) =>
      skill({
        name,
        description: `Does the work of a ${name}`,
        tools: name === 'planner' ? ['plan_write', 'result_read'] : [],
        body: 'Work.',
      }),
    ),
    coordinator: { model: 'main', identity: IDENTITY },
    tools: [],
    planners: ['planner'],
  });
  const world = await openWorld({ store: memory(), models: { main: model }, parts: [law] });
  try {
    await (await world.part(law).project('law').send('Begin.', { id: 'begin' })).result();
    await world.pump();
    expect(await faultsOf(world.kernel)).toEqual([]);
    await world.verify();
  } finally {
    await world.close();
  }
  const answers = asked.filter((one) => one.role === role).flatMap(({ request }) => request.messages);
  expect(answers.filter((message) => message.role === 'tool').length).toBeGreaterThan(0);
}

/** The steps of a coordinator that has so many parts planned. */
function planned(parts: number): readonly ScriptStep[] {
  return Array.from({ length: parts }, (_, i) => ({
    calls: [{ tool: 'spawn_agent', args: { task: `Plan part ${i}.`, skill: 'planner' } }],
  }));
}

const tools = [
  ...[...coordinatorTools(), memoryTools.memory_query, memoryTools.memory_store].map((tool) => [COORDINATOR, tool]),
  ...specialistTools().map((tool) => ['planner', tool]),
] as const;

describe(`given ${CALLS} calls of each tool of a team, each with an odd text (seed ${SEED})`, () => {
  it.each(tools.map(([role, tool]) => [role, (tool as { name: string }).name, tool] as const))(
    'every call by the %s of %s is answered, and no cell of the world fails [SCH-6, SCH-8]',
    async (role, name, tool) => {
      const { schema } = (tool as { readonly entry: { readonly schema: unknown } }).entry;
      await playedBy(role as string, stepsOf(name, schema as JsonSchema));
    },
  );
});
