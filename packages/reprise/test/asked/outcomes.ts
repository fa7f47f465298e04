/** Model calls that end in every way, each by a client with a name of its own, and what their receipts say. */

import type { AskedModel, JournalRecord, Receipt } from '@reprise/contracts';
import { memory, readFrame, type Store } from '@reprise/kernel';
import fc from 'fast-check';
import { defineAgent } from '../../src/index.js';
import { script } from '../../src/providers.js';
import { type TestWorld, testWorld } from '../../src/testing/testing.js';

type Client = ReturnType<typeof script>;
type Result = Awaited<ReturnType<Client['generate']>>;
type Context = Parameters<Client['generate']>[1];

/** How a model call ends. */
export const ENDS = [
  'answered',
  'refused',
  'failed for now',
  'cut off',
  'thrown',
  'out of time by its client',
  'out of time by the kernel',
  'cancelled',
  'crashed and resumed',
] as const;

export type End = (typeof ENDS)[number];

/** One call: how it ends, whom it asks, and after which time its answer begins. */
export interface Drawn {
  readonly end: End;
  readonly asked: AskedModel;
  readonly waitsMs: number;
}

const name = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '-', '4'), minLength: 1, maxLength: 12 });

/** Calls of any kind. */
export const anyCall: fc.Arbitrary<Drawn> = fc.record({
  end: fc.constantFrom(...ENDS),
  asked: fc.record(
    { profile: name, model: name, provider: name, server: name.map((one) => `${one}.example`) },
    { requiredKeys: ['profile', 'model'] },
  ),
  waitsMs: fc.nat({ max: 5_000 }),
});

const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Work.' });

/** A client that ends its call in the drawn way. Its profile names whom it asks. */
function clientOf({ end, asked, waitsMs }: Drawn, wait: (ms: number) => Promise<void>): Client {
  const plain = script({ text: 'Done.' }, { text: 'Done.' });
  const profile = {
    ...plain.profile,
    profile_id: asked.profile,
    model_default: asked.model,
    provider: asked.provider ?? '',
  };
  let calls = 0;
  return {
    ...plain,
    profile,
    ...(asked.server === undefined ? {} : { server: asked.server }),
    generate: async (request, context): Promise<Result> => {
      const first = calls++ === 0;
      await wait(waitsMs);
      if (end === 'crashed and resumed' && first) return never();
      return end === 'answered' || end === 'crashed and resumed'
        ? plain.generate(request, context)
        : failing(end, context);
    },
  };
}

async function failing(end: End, context: Context): Promise<Result> {
  const error = (code: string, retryable: boolean): Result => ({
    ok: false,
    failure: { status: 'error', code: code as never, retryable },
  });
  switch (end) {
    case 'refused':
      return error('provider_error_terminal/denied', false);
    case 'failed for now':
      return error('provider_error_retryable/rate_limited', true);
    case 'cut off':
      context.progress({ type: 'delta', channel: 'text', index: 0, text: 'Do' });
      return error('provider_error_retryable/network', true);
    case 'thrown':
      throw new Error('a defect of the client');
    case 'out of time by its client':
      return { ok: false, failure: { status: 'timeout', code: 'adapter_timeout' } };
    case 'cancelled':
      await new Promise<void>((stop) => context.signal.addEventListener('abort', () => stop(), { once: true }));
      return { ok: false, failure: { status: 'cancelled' } };
    default:
      return never();
  }
}

const never = () => new Promise<never>(() => undefined);

/** Plays one call to its end. @returns the receipts of all its attempts */
export async function played(drawn: Drawn): Promise<Receipt[]> {
  const store = memory();
  const world = await openedWith(drawn, store);
  const session = world.session('desk', clerk);
  await session.send('Go.', { id: 'm-1' });
  await world.clock.settle();
  await world.clock.advance(drawn.waitsMs);
  if (drawn.end === 'cancelled') await session.cancel();
  const now = drawn.end === 'crashed and resumed' ? await world.crash() : world;
  await now.clock.settle();
  await now.clock.advance('20m');
  return receiptsIn(store);
}

async function openedWith(drawn: Drawn, store: Store): Promise<TestWorld> {
  const holder: { world?: TestWorld } = {};
  const wait = (ms: number) => holder.world?.clock.sleep(ms, new AbortController().signal) ?? Promise.resolve();
  const world = await testWorld({ store, agents: [clerk], models: { main: clientOf(drawn, wait) } });
  holder.world = world;
  return world;
}

/** The receipts of model calls. */
async function receiptsIn(store: Store): Promise<Receipt[]> {
  const records: JournalRecord[] = [];
  const { journal } = await store.openReadonly();
  for await (const { seq, bytes } of journal.read(0)) records.push(...readFrame(bytes, seq).all);
  const calls = new Set(
    records.flatMap((one) => (one.kind === 'effect' && one.name === 'llm.generate@2' ? [one.effect] : [])),
  );
  return records.flatMap((one) => (one.kind === 'receipt' && calls.has(one.effect) ? [one.receipt] : []));
}
