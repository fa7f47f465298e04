/** A large tree that is stopped at its root, while other inputs wait. */
import { appOf, defineAgent, openAgentWorld, putText } from '@reprise/agent';
import { type Address, encode, memory, verifyStore } from '@reprise/kernel';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import { trees } from '@reprise/tree';

/** What a stop came to. */
export interface Stopped {
  readonly nodes: number;
  readonly ended: number;
  /** The frames of the stop. */
  readonly frames: number;
  /** The largest of them. */
  readonly deliveries: number;
  readonly bytes: number;
  /** Inputs that were taken before the stop was over. */
  readonly between: number;
  readonly unverified: number;
}

const TREE: Address = ['tree/Tree@1', 't'];

/** How many children one command adds. */
const CHILDREN = 64;

const part = trees({ agents: [defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' })] });

/** A model that answers when it is told to stop. */
const silent = (): ReturnType<typeof scriptBy> => {
  const script = scriptBy(() => ({ text: 'Stopped.' }));
  return {
    ...script,
    generate: async (request, context) => {
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      return script.generate(request, context);
    },
  };
};

/** Grows a tree by commands, and stops its root. */
export async function stopLarge(size: number): Promise<Stopped> {
  const store = memory();
  const found = await grow(store, size);
  const { unverified } = await verifyStore(await store.openReadonly(), { app: appOf([part]) });
  return { ...found, unverified };
}

async function grow(store: ReturnType<typeof memory>, size: number): Promise<Omit<Stopped, 'unverified'>> {
  await using world = await openAgentWorld({
    store,
    agents: [],
    parts: [part],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: silent() }, { judge }),
  });
  const { kernel } = world;
  const tree = await world.part(part).start('t', { goal: 'the whole', limits: { nodes: size, parallel: 1 } });
  const prompt_ref = await putText(kernel.content, 'Do your part.');
  const spec = { goal: 'a part', prompt_ref };
  for (let made = 1, parent = 1; made < size; parent++) {
    const count = Math.min(CHILDREN, size - made);
    const value = { parent, type: 'spawn', nodes: Array.from({ length: count }, () => spec) };
    await kernel.request(TREE, { name: 'tree/Add@1', value });
    made += count;
  }
  const from = kernel.head.seq + 1;
  const tell = { name: 'tree/Limit@1', value: { limits: { attempts: 2 } } };
  await Promise.all([
    kernel.request(TREE, { name: 'tree/Stop@1', value: { node: 1 } }),
    ...Array.from({ length: 5 }, () => kernel.request(TREE, tell)),
  ]);
  const sum = { frames: 0, deliveries: 0, bytes: 0, between: 0 };
  let isOver = false;
  for await (const { seq, records } of kernel.frames(from)) {
    if (!isOver) {
      sum.frames++;
      sum.deliveries = Math.max(sum.deliveries, records.filter(({ kind }) => kind === 'event').length);
      sum.bytes = Math.max(sum.bytes, encode(records).length);
      if (seq > from && records[0]?.kind !== 'continue') sum.between++;
      isOver = records.some((record) => record.kind === 'fact' && record.name === 'tree/Ended@1');
    }
    if (seq >= kernel.head.seq) break;
  }
  let ended = 0;
  for (let after = 0; ; ) {
    const rows = await tree.nodes({ after, limit: 1_000 });
    ended += rows.filter(({ status }) => status === 'cancelled').length;
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.n;
  }
  return { nodes: size, ended, ...sum };
}
