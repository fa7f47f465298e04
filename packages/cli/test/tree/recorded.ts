/** Worlds with the facts of trees, recorded by a cell that states what it is told: for verbs that only read. */
import { putText } from '@reprise/agent';
import type { Ref, Value } from '@reprise/contracts';
import { type Clock, creates, defineApp, defineReducer, openKernelWorld, type World } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { type FactOfTree, TREE, treeFacts } from '@reprise/tree';
import * as z from 'zod';
import { Facts, surveyed, textOf } from '../../../tree/test/views/facts.js';

const names = Object.keys(treeFacts) as (keyof typeof treeFacts)[];

const recorder = defineReducer({
  name: TREE,
  state: z.strictObject({}),
  events: Object.fromEntries(names.map((name) => [eventOf(name), creates(treeFacts[name] as never)])),
  facts: treeFacts as never,
  init: () => ({}),
  reduce: (_draft, event, ctx) => {
    ctx.record((event as { name: string }).name.replace('/Say', '/'), (event as { value: Value }).value);
  },
});

function eventOf(name: string): `tree/Say${string}@1` {
  return name.replace('/', '/Say') as `tree/Say${string}@1`;
}

/** A world in which facts can be recorded, one in each frame, a second apart. */
export async function openRecorder(path: string): Promise<World> {
  let wall = Date.UTC(2026, 0, 1);
  const clock: Clock = {
    wall: () => {
      wall += 1_000;
      return wall;
    },
    monotonic: () => performance.now(),
    sleep: () => new Promise(() => undefined),
  };
  return openKernelWorld({ store: sqlite(path), app: defineApp({ reducers: [recorder] }), clock });
}

/** Records facts. */
export async function record(world: World, facts: readonly FactOfTree[]): Promise<void> {
  for (const { name, value, tree } of facts)
    await world.request([TREE, tree], { name: eventOf(name), value: value as Value });
}

/** Writes the world of the pictures: the tree `survey`, and one that is complete, `first`, before it. */
export async function makeSurvey(path: string): Promise<void> {
  await using world = await openRecorder(path);
  const { content } = world;
  const result = await putText(content, '41 files, most of them in src/read\nand twelve elsewhere');
  const prompt = await putText(content, 'Rewrite the tests below test/read.');
  const with_ = (of: Ref): Ref => (of.hex === textOf(2).ref.hex ? result : prompt);
  const root = { type: 'goal', parent: null, goal: 'Say hello' } as const;
  const spent = { tokens: 12, micro_money: 0 };
  const given = { ref: result, kind: 'text', bytes: 54 } as const;
  const first = new Facts('first')
    .start('Say hello')
    .node(1, { ...root, status: 'complete', result: given, spent })
    .push('tree/Ended@1', { status: 'complete', code: null, result: given, spent });
  await record(
    world,
    first.list.map((fact) => relinked(fact, () => prompt)),
  );
  await record(
    world,
    surveyed().list.map((fact) => relinked(fact, with_)),
  );
}

/** Facts without links, for worlds that have no content. */
export function withoutLinks({ list }: Facts): FactOfTree[] {
  return list.map((fact) =>
    'prompt_ref' in fact.value ? ({ ...fact, value: { ...fact.value, prompt_ref: null } } as FactOfTree) : fact,
  );
}

/** A fact whose links name content of the world. */
function relinked(fact: FactOfTree, link: (of: Ref) => Ref): FactOfTree {
  const value = { ...fact.value } as Record<string, unknown>;
  for (const name of ['prompt_ref', 'question_ref']) if (value[name] != null) value[name] = link(value[name] as Ref);
  const result = value.result as { ref: Ref } | null | undefined;
  if (result != null && fact.tree === 'survey') value.result = { ...result, ref: link(result.ref) };
  return { ...fact, value } as unknown as FactOfTree;
}
