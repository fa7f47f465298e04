/** A large tree in a world of any store: grown by commands, with calls of tools that never return, stopped at its root. */
import { type AgentWorld, appOf, defineAgent, defineTool, openAgentWorld, putText } from '@reprise/agent';
import type { JournalRecord } from '@reprise/contracts';
import { type Address, encode, type Store } from '@reprise/kernel';
import { llmGenerateAdapter, type ScriptStep, scriptBy } from '@reprise/providers';
import { trees } from '@reprise/tree';
import * as z from 'zod';

/** How large a tree is. */
export interface Size {
  readonly nodes: number;
  /** Calls of tools that are under way when it is stopped; `LIVE` nodes make them. */
  readonly hanging: number;
}

/** The frames of a stop. */
export interface StopFrames {
  readonly frames: number;
  /** The largest of them. */
  readonly deliveries: number;
  readonly bytes: number;
  /** Inputs that were taken before the stop was over. */
  readonly between: number;
  readonly isOver: boolean;
}

const TREE: Address = ['tree/Tree@1', 't'];

/** The children that one command adds. */
const CHILDREN = 64;

/** The nodes that call tools. */
const LIVE = 80;

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });

const hang = defineTool({
  name: 'hang',
  description: 'Works until it is stopped.',
  args: z.strictObject({ part: z.int() }),
  guarantee: 'idempotent',
  run: async (_args, { signal }) => {
    await untilAborted(signal);
    return 'stopped';
  },
});

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [hang] });
const part = trees({ agents: [worker] });

/** The app of such worlds. */
export const largeApp = appOf([part]);

/** A model whose first nodes call tools that hang; without such calls it says nothing until it is stopped. */
function model(hanging: number): ReturnType<typeof scriptBy> {
  let [left, nodes] = [hanging, LIVE];
  const script = scriptBy((): ScriptStep => {
    const calls = nodes > 0 ? Math.ceil(left / nodes) : 0;
    left -= calls;
    nodes--;
    if (calls === 0) return { text: 'Stopped.' };
    return { calls: Array.from({ length: calls }, (_, i) => ({ tool: 'hang', args: { part: i } })) };
  });
  if (hanging > 0) return script;
  return {
    ...script,
    generate: async (request, context) => {
      await untilAborted(context.signal);
      return script.generate(request, context);
    },
  };
}

/** Opens the world of a large tree. */
export function openLarge(store: Store, hanging: number): Promise<AgentWorld> {
  return openAgentWorld({
    store,
    agents: [],
    parts: [part],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: model(hanging) }, { judge }),
  });
}

/** Grows the tree by commands, and waits until the calls that hang are under way. */
export async function grow(world: AgentWorld, { nodes, hanging }: Size): Promise<void> {
  const { kernel } = world;
  const parallel = hanging > 0 ? LIVE : 1;
  await world.part(part).start('t', { goal: 'the whole', limits: { nodes, parallel } });
  const prompt_ref = await putText(kernel.content, 'Do your part.');
  const spec = { goal: 'a part', prompt_ref };
  for (let made = 1, parent = 1; made < nodes; parent++) {
    const count = Math.min(CHILDREN, nodes - made);
    const value = { parent, type: 'spawn', nodes: Array.from({ length: count }, () => spec) };
    await kernel.request(TREE, { name: 'tree/Add@1', value });
    made += count;
  }
  while (hanging > 0 && (await hangingCalls(kernel)) < hanging) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** The calls of tools that are open. */
async function hangingCalls(kernel: AgentWorld['kernel']): Promise<number> {
  return (await kernel.openEffects()).filter(({ name }) => name === 'tool.call@1').length;
}

/** Stops the root, while other inputs wait. */
export async function stopRoot(kernel: AgentWorld['kernel']): Promise<void> {
  const stop = kernel.request(TREE, { name: 'tree/Stop@1', value: { node: 1 } }, { id: 'stop' });
  await Promise.all([stop, waitingInputs(kernel)]);
}

/** Inputs that are not part of the stop. */
export async function waitingInputs(kernel: AgentWorld['kernel']): Promise<void> {
  const tell = { name: 'tree/Limit@1', value: { limits: { attempts: 2 } } };
  await Promise.all(Array.from({ length: 5 }, () => kernel.request(TREE, tell)));
}

/** The frames of the stop: from its request on, to the last frame that goes on with it. */
export async function stopFrames(kernel: AgentWorld['kernel'], from: number): Promise<StopFrames> {
  const sum = { frames: 0, deliveries: 0, bytes: 0, between: 0, isOver: false };
  let waiting = NONE_WAITING;
  for await (const { seq, records } of kernel.frames(from)) {
    const [ingress] = records;
    const isStop = ingress?.kind === 'request' && ingress.event.name === 'tree/Stop@1';
    const goesOn = ingress?.kind === 'continue';
    if (isStop || (sum.frames > 0 && (goesOn || !sum.isOver))) {
      if (!isStop && !goesOn) sum.between++;
      sum.frames++;
      sum.bytes = Math.max(sum.bytes, encode(records).length);
      const before = waiting;
      waiting = waitingAfter(records, before);
      sum.deliveries = Math.max(sum.deliveries, deliveriesOf(records, before, waiting));
      sum.isOver ||= records.some((record) => record.kind === 'fact' && record.name === 'tree/Ended@1');
    }
    if (seq >= kernel.head.seq) break;
  }
  return sum;
}

/** What a frame leaves for the next: how many deliveries were done so far, and how many wait. */
interface Waiting {
  readonly done: number;
  readonly count: number;
}

const NONE_WAITING: Waiting = { done: 0, count: 0 };

/** What a frame left, as its state record says: the changes of the leaf `pending`. */
function waitingAfter(records: readonly JournalRecord[], before: Waiting): Waiting {
  const state = records.find(({ kind }) => kind === 'state') as { leaves?: readonly unknown[][] } | undefined;
  const pending = state?.leaves?.find(
    ([path]) => Array.isArray(path) && path.length === 1 && path[0] === 'pending',
  )?.[1];
  if (pending === undefined || pending === null) return NONE_WAITING;
  const { done, cascade } = pending as { done?: Changed<number>; cascade?: Changed<{ count?: Changed<number> }> };
  return { done: given(done) ?? before.done, count: given(given(cascade)?.count) ?? before.count };
}

/** A part of a leaf: as it is, or in a list when it replaces what stood there before. */
type Changed<T> = T | readonly [T];

function given<T>(changed: Changed<T> | undefined): T | undefined {
  return Array.isArray(changed) ? (changed[0] as T) : (changed as T | undefined);
}

/** The deliveries of a frame; of the last one, all that waited and that its own records added. */
function deliveriesOf(records: readonly JournalRecord[], before: Waiting, after: Waiting): number {
  if (after.done > 0) return after.done - before.done;
  const added = records.filter(({ kind }) => kind === 'event' || kind === 'intent' || kind === 'settled');
  return before.count + added.length + 1;
}

/** The number of nodes that were cancelled. */
export async function cancelled(world: AgentWorld): Promise<number> {
  let ended = 0;
  const tree = world.part(part).tree('t');
  for (let after = 0; ; ) {
    const rows = await tree.nodes({ after, limit: 1_000 });
    ended += rows.filter(({ status }) => status === 'cancelled').length;
    const last = rows.at(-1);
    if (last === undefined) return ended;
    after = last.n;
  }
}

/** Waits until no effect is open. */
export async function drained(kernel: AgentWorld['kernel']): Promise<void> {
  while ((await kernel.openEffects()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}
