/** What several scenarios are made of: tools, an agent, words for calls and events. */
import type { Settlement } from '@reprise/contracts';
import { deferred, defineAgent, defineTool, type Run, type StopReason } from 'reprise';
import * as z from 'zod';
import type { Called, Stage } from './scenario.js';

/** May happen once. */
export const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});

/** Has {@link add}. */
export const adder = defineAgent({ name: 'adder', model: 'main', instructions: 'Add.', tools: [add] });

/** A call of {@link add}. */
export const adds = (id: string, a: number, b: number): Called => ({ id, tool: 'add', args: { a, b } });

/** How a run begins. */
export const BEGIN = ['input.accepted', 'lifecycle', 'turn.started'] as const;
/** A model is asked and answers. */
export const STEP = ['llm_step.requested', 'llm_step.completed'] as const;
/** A tool is called and answers. */
export const CALL = ['tool.requested', 'tool.completed'] as const;
/** A call waits for a child, which settles; the run goes on. */
export const CHILD_AWAITED = [
  'tool.requested',
  'tool.waiting',
  'lifecycle',
  'child.settled',
  'tool.completed',
  'lifecycle',
] as const;
/** How a run ends. */
export const END = ['lifecycle'] as const;

/** The end of a run that was answered. */
export const COMPLETED: StopReason = { kind: 'Completed' };
/** The end of a run that somebody stopped. */
export const CANCELLED: StopReason = { kind: 'Cancelled' };

/** What {@link scout} and {@link lead} are told, and found by. */
export const SCOUT = 'Scout.';
export const LEAD = 'Lead.';

/** A child. */
export const scout = defineAgent({ name: 'scout', model: 'main', instructions: SCOUT });

/** Has scouts. */
export const lead = defineAgent({ name: 'lead', model: 'main', instructions: LEAD, spawns: [scout] });

/** A call that spawns a scout. */
export const spawned = (id: string, task: string): Called => ({
  id,
  tool: 'spawn_agent',
  args: { agent: 'scout', task },
});

/** A call that waits for children. */
export const waits = (id: string, children: readonly string[], how: object = {}): Called => ({
  id,
  tool: 'wait_agents',
  args: { children, ...how },
});

/** Waits until a run asks a person, for the first time. @returns what `decide` takes */
export async function askedAbout(run: Run): Promise<string> {
  for await (const event of run.events()) if (event.type === 'human.requested') return event.id;
  throw new Error(`run ${run.id} asked nobody`);
}

/**
 * Waits until a call of a run is handed on to somebody outside, for the first time, or the run is over.
 *
 * @returns what `settle` takes
 */
export async function deferredEffect({ world }: Stage, run: Run): Promise<string | undefined> {
  const over = new AbortController();
  const ended = run.result().finally(() => over.abort());
  ended.catch(() => undefined); // who reads the frames is told as well
  for await (const { records } of world.kernel.frames(0, over.signal))
    for (const record of records) if (record.kind === 'deferred') return record.effect;
  await ended;
  return undefined;
}

/** A run that is known to be there. */
export function firstOf(run: Run | undefined): Run {
  if (run === undefined) throw new Error('there is no such run');
  return run;
}

/** What a call came to, as somebody outside says it: a text. */
export async function outcomeOf({ world }: Stage, text: string): Promise<Settlement> {
  const bytes = new TextEncoder().encode(text);
  const ref = await world.kernel.content.put(bytes);
  const truncation_meta = {
    original_bytes: bytes.length,
    bounded_bytes: bytes.length,
    truncated: false,
    policy_id: 'outside@1',
  };
  const payload = { operator_output_ref: ref, model_output_ref: ref, truncation_meta, is_error: false };
  return { status: 'ok', payload };
}

/** Somebody has to approve it. */
const refund = defineTool({
  name: 'refund',
  description: 'Refunds.',
  args: z.strictObject({ cents: z.int() }),
  approval: 'always',
  run: ({ cents }) => `refunded ${cents}`,
});
/** Has {@link refund}. */
export const support = defineAgent({ name: 'support', model: 'main', instructions: 'Help.', tools: [refund] });

/** Somebody else finishes it. */
const order = defineTool({
  name: 'order',
  description: 'Orders.',
  args: z.strictObject({}),
  run: () => deferred(),
});
/** Has {@link order}. */
export const buyer = defineAgent({ name: 'buyer', model: 'main', instructions: 'Buy.', tools: [order] });

/** Neither answers nor stops. */
const deaf = defineTool({
  name: 'wait',
  description: 'Never answers.',
  args: z.strictObject({}),
  timeout: '10s',
  run: () => new Promise<string>(() => undefined),
});
/** Has {@link deaf}. */
export const waiter = defineAgent({ name: 'waiter', model: 'main', instructions: 'Wait.', tools: [deaf] });
