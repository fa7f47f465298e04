/** A process of the benchmark: it opens worlds in a store, and works in all of them at once when it is told to. */
import { defineAgent, defineTool, openWorld } from 'reprise';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  type World as KernelWorld,
  openKernelWorld,
  type Store,
} from 'reprise/kernel';
import { postgres } from 'reprise/postgres';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';

/** What a process is told to do. */
export interface Round {
  readonly worlds: number;
  readonly work: 'turns' | 'effects';
  /** How many turns or effects in each world. */
  readonly each: number;
}

/** What it cost. */
export interface Done {
  /** CPU of the process for one turn or effect, in microseconds. */
  readonly cpuUs: number;
}

const [place = '', name = ''] = process.argv.slice(2);
const isDatabase = place.startsWith('postgres:');
// The worlds of SQLite commit on the thread on which a lease would be extended.
const database = isDatabase ? postgres(place, { ttl: 120_000 }) : undefined;
const storeOf = (world: string): Store => database?.world(world) ?? sqlite(`${place}/${world}.db`);

const text = 'Lorem ipsum dolor sit amet, consetetur sadipscing elitr. '.repeat(9);
const read = defineTool({
  name: 'read',
  description: 'Reads a chapter.',
  args: z.strictObject({ chapter: z.string() }),
  run: ({ chapter }) => `${chapter}: ${text}`,
});
const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Answer from the chapters.', tools: [read] });
const models = {
  main: scriptBy(({ unified }) =>
    unified.messages.at(-1)?.role === 'user'
      ? { calls: [{ tool: 'read', args: { chapter: 'one' } }] }
      : { text: 'done' },
  ),
};

const number = z.strictObject({ n: z.int() });
const note = defineEffect({ kind: 'bench.note@1', params: number, receipt: number });
const noting = definePlan({
  name: 'bench/noting@1',
  input: z.strictObject({ count: z.int() }),
  effects: [note],
  *run({ count }, plan) {
    for (let n = 0; n < count; n++) yield* plan.awaitReceipt(plan.emitEffect(note, { n }));
    plan.raiseEvent({ name: 'bench/Done@1', value: {} });
  },
});
const counter = defineReducer({
  name: 'bench/Counter@1',
  state: z.strictObject({ done: z.int() }),
  events: { 'bench/Asked@1': creates(z.strictObject({ count: z.int() })), 'bench/Done@1': z.strictObject({}) },
  init: () => ({ done: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'bench/Done@1') draft.done++;
    else ctx.emit({ plan: noting, input: { count: event.value.count } });
  },
});
const app = defineApp({ reducers: [counter], plans: [noting] });
const noter = {
  effect: note,
  name: 'noter',
  doExecute: async (params: unknown) => ({ status: 'ok' as const, payload: params }),
};

type AgentWorld = Awaited<ReturnType<typeof openWorld>>;

const agents: AgentWorld[] = [];
const plans: KernelWorld[] = [];
let asked = 0;

async function turns(world: AgentWorld, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await (await world.session('s', clerk).send(`question ${asked++}`)).text();
}

async function effects(world: KernelWorld, count: number): Promise<void> {
  await world.request(['bench/Counter@1', 'a'], { name: 'bench/Asked@1', value: { count } });
  await world.pump();
}

/** All worlds of a kind, opened where they are not yet. */
async function openAll({ worlds, work }: Round): Promise<void> {
  while (work === 'turns' && agents.length < worlds)
    agents.push(await openWorld({ store: storeOf(`t-${name}-${agents.length}`), models, agents: [clerk] }));
  while (work === 'effects' && plans.length < worlds)
    plans.push(await openKernelWorld({ store: storeOf(`e-${name}-${plans.length}`), app, adapters: [noter] }));
}

process.on('message', (round: Round) => {
  void (async () => {
    await openAll(round);
    const before = process.cpuUsage();
    const work =
      round.work === 'turns'
        ? agents.map((one) => turns(one, round.each))
        : plans.map((one) => effects(one, round.each));
    await Promise.all(work);
    const { user, system } = process.cpuUsage(before);
    process.send?.({ cpuUs: (user + system) / (round.worlds * round.each) } satisfies Done);
  })();
});
process.on('disconnect', () => {
  void Promise.all([...agents, ...plans].map((world) => world.close()))
    .then(() => database?.close())
    .then(() => process.exit(0));
});
