/** The cast of several scenarios: tools, agents that have them, and the calls of their models. */
import { deferred, defineAgent, defineTool } from 'reprise';
import * as z from 'zod';
import type { Answer, Called } from './scenario.js';

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

/** The instructions of a {@link scout}: answers to it are found by them. */
export const SCOUT = 'Scout.';
/** The instructions of a {@link lead}. */
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

/** A {@link lead} spawns a scout, and waits for it in its next answer. */
export const spawnsAndWaits = (how: object = {}): Answer[] => [
  { to: LEAD, calls: [spawned('s', 'Look.')] },
  { to: LEAD, calls: [waits('w', ['c1'], how)] },
];

/** A tool whose calls need approval. */
const refund = defineTool({
  name: 'refund',
  description: 'Refunds.',
  args: z.strictObject({ cents: z.int() }),
  approval: 'always',
  run: ({ cents }) => `refunded ${cents}`,
});
/** Has {@link refund}. */
export const support = defineAgent({ name: 'support', model: 'main', instructions: 'Help.', tools: [refund] });

/** A call of {@link refund}. */
export const refunds = (cents: number): Called => ({ id: 'r', tool: 'refund', args: { cents } });

/** Retains only its last turn in a compaction. */
export const talker = defineAgent({ name: 'talker', model: 'main', instructions: 'Talk.', compaction: { keep: 1 } });

/** A tool whose calls an outside service settles. */
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
/** Has {@link deaf}: it is given up after ten seconds. */
export const waiter = defineAgent({ name: 'waiter', model: 'main', instructions: 'Wait.', tools: [deaf] });
