/** A world with an agent that answers, fails or waits for an approval, as its message says; and a clock that a test moves. */
import { randomBytes } from 'node:crypto';
import { type AgentWorld, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import type { Clock, Store } from '@reprise/kernel';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import type { VirtualClock } from '@reprise/testkit';
import * as z from 'zod';
import { type ReceiverOptions, type WebhooksOptions, webhooks } from '../../src/index.js';
import type { Receiver } from './receiver.js';

/** A secret of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const book = defineTool({
  name: 'book',
  description: 'Books a train.',
  args: z.object({ to: z.string() }),
  approval: 'always',
  run: ({ to }) => `booked to ${to}`,
});

/** The agent of all worlds here. */
export const agent = defineAgent({ name: 'clerk', model: 'main', instructions: 'Work.', tools: [book] });

/** The secrets of all worlds here. */
export type Secrets = Readonly<Record<string, string>>;

/** What a world here is opened with. */
export interface Scene {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock?: Clock;
  readonly part?: ReturnType<typeof webhooks>;
}

/** Opens a world. A message that begins with `fail` fails its run, one that begins with `book` waits for an approval. */
export function opened({ store, secrets, clock, part }: Scene): Promise<AgentWorld> {
  const model = scriptBy(({ last }) => {
    if (last.startsWith('book')) return { calls: [{ tool: 'book', args: { to: 'Rome' } }] };
    if (last.startsWith('fail')) return { fail: 'provider_error_terminal' as const };
    return { text: 'Done.' };
  });
  return openAgentWorld({
    ...{ store, agents: [agent], models: { main: {} } },
    ...(part === undefined ? {} : { parts: [part] }),
    ...(clock === undefined ? {} : { clock }),
    secrets: async (name) => secrets[name] ?? '',
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
}

/** The part for receivers of this machine, by name. */
export function partFor(
  receivers: Readonly<Record<string, Receiver>>,
  more: Partial<ReceiverOptions> = {},
  options: WebhooksOptions = {},
): ReturnType<typeof webhooks> {
  const all = Object.entries(receivers).map(([name, { url }]): [string, ReceiverOptions] => [
    name,
    { url, secret: name, on: ['waiting', 'ended', 'failed'], ...more },
  ]);
  const allowPrivate = Object.values(receivers).map(({ host }) => host);
  return webhooks(Object.fromEntries(all), { allowPrivate, ...options });
}

/** A turn of the event loop, for what happens outside of the clock. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Moves a clock on whenever nothing happens by itself any more, until a condition holds.
 *
 * @param isQuiet whether everything that was begun waits for the clock
 */
export async function drive(
  clock: VirtualClock,
  isDone: () => Promise<boolean>,
  isQuiet: () => Promise<boolean>,
): Promise<void> {
  while (!(await isDone())) {
    if (!(await isQuiet())) await turn();
    else await clock.advance(Math.max(1, clock.nextWakeIn ?? 60_000));
  }
}
