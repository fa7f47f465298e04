/** An organization whose sessions use a store: it answers their calls of memory tools. */
import {
  type AgentWorld,
  appOf,
  defineAgent,
  openAgentWorld,
  putText,
  type Tool,
  type WorldPart,
} from '@reprise/agent';
import { agentAdopted, ownerCall, SESSION_REDUCER, userInput } from '@reprise/agent/contracts';
import { type Address, formatAddress, type JournalRecord } from '@reprise/contracts';
import { creates, defineReducer, memory, type Store, verifyStore } from '@reprise/kernel';
import { llmGenerateAdapter, type ScriptStep, script } from '@reprise/providers';
import { expect } from 'vitest';
import * as z from 'zod';
import {
  isMemoryTool,
  memoryCall,
  memoryEvents,
  memoryFacts,
  memoryNews,
  memoryPart,
  memoryTables,
  memoryTools,
  openStore,
} from '../../src/index.js';

export const SCOPE = 'project:desk';
export const CLERKS: Address = ['test/Clerks@1', 'desk'];
const SESSION = 'desk/clerk';

const clerk = defineAgent({
  name: 'clerk',
  model: 'main',
  instructions: 'Remember what matters.',
  tools: Object.values(memoryTools) as readonly Tool[],
});

const clerks = defineReducer({
  name: CLERKS[0],
  state: z.strictObject({ news: z.array(z.string()) }),
  tables: memoryTables,
  facts: memoryFacts,
  events: {
    'test/Said@1': creates(z.strictObject({ adopted: agentAdopted, said: userInput })),
    'aos.agent/OwnerCall@1': ownerCall,
    ...memoryEvents,
  },
  init: () => ({ news: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'test/Said@1') {
      openStore(ctx, SCOPE);
      const [part] = event.value.said.parts;
      const text = part?.kind === 'text' ? { text_ref: part.text_ref } : {};
      ctx.record('memory/Linked@1', { kind: 'message', id: 1, title: 'message 1', from: [], ...text });
      ctx.record('memory/Linked@1', { kind: 'result', id: 7, title: 'Research', from: [{ kind: 'message', id: 1 }] });
      const to: Address = [SESSION_REDUCER, SESSION];
      ctx.send(to, { name: 'aos.agent/AgentAdopted@1', value: event.value.adopted });
      return ctx.send(to, { name: 'aos.agent/UserInput@1', value: event.value.said });
    }
    if (event.name === 'aos.agent/OwnerCall@1') {
      if (!isMemoryTool(event.value.name)) return ctx.reject('unknown_tool');
      const origin = { cell: formatAddress(ctx.address), message: 1 };
      const has = ({ kind, id }: { readonly kind: string; readonly id: number }) => kind === 'result' && id === 7;
      return memoryCall(ctx, event.value, { store: SCOPE, origin, has });
    }
    const news = memoryNews(ctx, event);
    if (news !== 'other') draft.news.push(`${news.op} ${news.code ?? news.written?.id ?? 'done'}`);
  },
});

const part: WorldPart<undefined> = {
  name: 'clerks',
  uses: [memoryPart()],
  reducers: [clerks],
  agents: [clerk],
  handle: () => undefined,
};

/** The app of such a world. */
export const clerksApp = appOf([part]);

/** The part of memories, with a store that throws when a memory is demoted. */
export function defectiveMemory(): ReturnType<typeof memoryPart> {
  const memories = memoryPart();
  const reducers = (memories.reducers ?? []).map((one) => ({
    ...one,
    reduce: (...given: Parameters<typeof one.reduce>) => {
      const [, { name, value }] = given;
      const { params } = value as { readonly params?: { readonly operation?: { readonly op: string } } };
      if (name === 'sys/EffectOpened@1' && params?.operation?.op === 'demote') throw new Error('a defect of this test');
      return one.reduce(...given);
    },
  }));
  return { ...memories, reducers };
}

export interface Office {
  readonly world: AgentWorld;
  readonly store: Store;
  /** What the model was told of each call, in order. */
  readonly told: readonly string[];
  /** What the owner learned. */
  news(): Promise<readonly string[]>;
  records(): Promise<readonly JournalRecord[]>;
}

export const call = (tool: string, args: object): ScriptStep => ({ calls: [{ tool, args: args as never }] });

/** A session makes calls, and a test looks at what came of them. `before` runs before the session begins. */
export async function office(
  steps: readonly ScriptStep[],
  look: (office: Office) => Promise<void>,
  before: (world: AgentWorld) => Promise<unknown> = async () => undefined,
  memories = memoryPart(),
): Promise<void> {
  const store = memory();
  const model = script(...steps, { text: 'Done.' });
  const world = await openAgentWorld({
    store,
    agents: [],
    parts: [{ ...part, uses: [memories] }],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
  try {
    await before(world);
    const { adopted, agents } = await world.adopted(clerk);
    const parts = [{ kind: 'text', text_ref: await putText(world.kernel.content, 'Remember how we pay.') }];
    const said = { parts, command_id: 'say', priority: 0, cause: { kind: 'app', reason: 'test' } };
    const value = { adopted: { ...adopted, adopt: 'pin', agents }, said } as never;
    await world.kernel.request(CLERKS, { name: 'test/Said@1', value });
    for await (const event of world.session(SESSION, clerk).events()) {
      if (event.type === 'lifecycle' && event.stop !== undefined) break;
    }
    const records = async () => {
      const all: JournalRecord[] = [];
      for await (const frame of world.kernel.frames(0)) {
        all.push(...frame.records);
        if (frame.seq >= world.kernel.head.seq) break;
      }
      return all;
    };
    const told = model.requests.slice(1).map(({ last }) => last);
    const news = async () => ((await world.kernel.state(CLERKS)) as unknown as { news: string[] }).news;
    await look({ world, store, told, news, records });
  } finally {
    await world.close();
  }
  expect(
    (await verifyStore(await store.openReadonly(), { app: appOf([{ ...part, uses: [memories] }]) })).unverified,
  ).toBe(0);
}
