/**
 * Answers that come twice, late, to the wrong place or without a question; writers and rules that do not fit the
 * journal.
 */
import assert from 'node:assert/strict';
import type { JournalRecord, Value } from '@reprise/contracts';
import {
  type Adapter,
  creates,
  deferEffect,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  forkWorld,
  memory,
  type OpenStore,
  openKernelWorld,
  readFrame,
  type Store,
  type World,
} from '@reprise/kernel';
import { scriptedAdapter, seededRandom, VirtualClock } from '@reprise/testkit';
import * as z from 'zod';
import { load, type Sample } from '../tamper/sample.js';
import { changed, type Data, forged, foundIn, frameAt, rearranged, shopSample } from './forging.js';
import { type Catch, caughtBy, type Row, sameBytes } from './row.js';
import { shopApp, shopStore } from './shop.js';
import { toldOfStep } from './stale-steps.js';

const GROUP = 'receipts and writers';

type Forgery = (sample: Sample) => Sample;

/** A receipt that an attacker wrote into the journal, with all heads recomputed. */
function forgery(name: string, how: string, caught: Row['caught'], forge: Forgery, harmless: Forgery): Row {
  const found = async (act: Forgery): Promise<Catch[]> => foundIn(act(await shopSample()));
  return { group: GROUP, name, how, caught, broken: () => found(forge), sound: () => found(harmless) };
}

/** Frame 4 is the receipt of the charge. */
const RECEIPT = 4;
const unchanged: Forgery = (sample) => forged(sample, RECEIPT, (records) => records);

const withReceipt =
  (edit: (receipt: Data) => Data): Forgery =>
  (sample) =>
    forged(sample, RECEIPT, (records) => changed(records, 0, { receipt: edit(records[0]?.receipt as Data) as Value }));

/** The place where the plan shows the outcome that it got. */
const RESUMED = 'frame 4, record 1 (state), `$.leaves[plan shop/Order@1 0 a].resumed`';

const FORGED: readonly Row[] = [
  forgery(
    'a receipt twice',
    'the receipt of the charge is in the journal a second time',
    [['verification', 'replay_divergence', 'frame 5, record 0 (receipt), `$`: a record `receipt` → nothing']],
    (sample) => rearranged(sample, (frames) => frames.toSpliced(5, 0, frameAt(sample, RECEIPT))),
    (sample) => rearranged(sample, (frames) => frames),
  ),
  forgery(
    'a receipt that was never given',
    'the receipt of the charge is changed to one of an effect that was never emitted',
    [['integrity check', 'journal_damaged', 'frame 4, record 0']],
    (sample) => forged(sample, RECEIPT, (records) => changed(records, 0, { effect: 'ab'.repeat(32) })),
    unchanged,
  ),
  forgery(
    'a receipt of another effect',
    'the receipt of the charge is changed to one of the letter',
    [
      [
        'verification',
        'replay_divergence',
        'frame 4, record 1 (state), `$.leaves[effect b948f2d15c6f…]`: `null` → nothing',
      ],
    ],
    (sample) => {
      const other = readFrame(frameAt(sample, 5).bytes, 5).ingress as { readonly effect?: string };
      return forged(sample, RECEIPT, (records) => changed(records, 0, { effect: other.effect ?? '' }));
    },
    unchanged,
  ),
  forgery(
    'a receipt of another attempt',
    'the receipt of the charge has the number of a second attempt',
    [['integrity check', 'journal_damaged', 'frame 4, record 0']],
    (sample) => forged(sample, RECEIPT, (records) => changed(records, 0, { attempt: 2 })),
    unchanged,
  ),
  forgery(
    'a receipt with another payload',
    'the receipt of the charge has another number in its payload',
    [['verification', 'replay_divergence', `${RESUMED}: bytes`]],
    withReceipt((receipt) => ({ ...receipt, payload: { id: 'c-1' } })),
    unchanged,
  ),
  forgery(
    'a receipt with another status',
    'the receipt of the charge has the status of a failure',
    [['verification', 'replay_divergence', `${RESUMED}: bytes`]],
    withReceipt(({ payload: _, ...receipt }) => ({ ...receipt, status: 'error', code: 'adapter_error' })),
    unchanged,
  ),
  forgery(
    'a receipt whose payload has no shape',
    'the payload of the charge is a number',
    [['verification', 'replay_divergence', `${RESUMED}: bytes`]],
    withReceipt((receipt) => ({ ...receipt, payload: 5 })),
    unchanged,
  ),
  forgery(
    'a receipt that is gone',
    'frame 4 removed, with all numbers and heads recomputed',
    [['verification', 'replay_divergence', 'frame 4, record 1 (event), `$`: a record `event` → a record `state`']],
    (sample) => rearranged(sample, (frames) => frames.toSpliced(RECEIPT, 1)),
    (sample) => rearranged(sample, (frames) => frames),
  ),
  forgery(
    'a receipt before its effect',
    'the receipt of the charge is placed before the check-out',
    [['integrity check', 'journal_damaged', 'frame 3, record 0']],
    (sample) => rearranged(sample, (frames) => frames.with(3, frameAt(sample, RECEIPT)).with(4, frameAt(sample, 3))),
    (sample) => rearranged(sample, (frames) => frames),
  ),
  forgery(
    'an attempt that is gone',
    'frame 3 arms no charge, and frame 4 has its receipt',
    [['integrity check', 'journal_damaged', 'frame 4, record 0']],
    (sample) => forged(sample, 3, (records) => records.toSpliced(4, 1)),
    (sample) => forged(sample, 3, (records) => records),
  ),
];

const ask = defineEffect({
  kind: 'desk.ask@1',
  params: z.strictObject({ of: z.string() }),
  receipt: z.strictObject({ answer: z.string() }),
});

/** A desk asks once, waits at most a second, and notes what came. */
const plan = definePlan({
  name: 'desk/ask_plan@1',
  input: z.strictObject({ of: z.string() }),
  effects: [ask],
  *run({ of }, context) {
    const { status } = yield* context.awaitReceipt(context.emitEffect(ask, { of }, { timeoutMs: 1_000 }));
    context.raiseEvent({ name: 'desk/Told@1', value: { status } });
  },
});
const desk = defineReducer({
  name: 'desk/Desk@1',
  state: z.strictObject({ told: z.array(z.string()) }),
  events: {
    'desk/Asked@1': creates(z.strictObject({ of: z.string() })),
    'desk/Told@1': z.strictObject({ status: z.string() }),
  },
  init: () => ({ told: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'desk/Asked@1') ctx.emit({ plan, input: event.value });
    else draft.told.push(event.value.status);
  },
});
const deskApp = defineApp({ reducers: [desk], plans: [plan] });
const DESK: [string, string] = ['desk/Desk@1', 'x'];

/** A desk with an open question. */
async function askedDesk(adapter: Adapter<{ of: string }, { answer: string }>) {
  const store = memory();
  const clock = new VirtualClock({ wall: Date.UTC(2026, 0, 1) });
  const options = { store, app: deskApp, clock, random: seededRandom('desk'), adapters: [adapter] };
  const world = await openKernelWorld({ ...options, recheckEvery: 1, snapshotEvery: 0 });
  await world.request(DESK, { name: 'desk/Asked@1', value: { of: 'ann' } }, { id: 'q' });
  await clock.settle();
  return { store, clock, world };
}

/** The first record of a kind, by its place. */
async function recordOf(store: Store, kind: JournalRecord['kind'], says: (record: JournalRecord) => string) {
  const reader = await store.openReadonly();
  for await (const { seq, bytes } of reader.journal.read(0)) {
    const i = readFrame(bytes, seq).all.findIndex((record) => record.kind === kind);
    const record = readFrame(bytes, seq).all[i];
    if (record !== undefined) return `frame ${seq}, record ${i} (${kind}): ${says(record)}`;
  }
  return undefined;
}

const waits: Adapter<{ of: string }, { answer: string }> = {
  effect: ask,
  name: 'people',
  doExecute: async () => deferEffect(),
};

/** A person answers once, or twice. */
async function answered(times: 1 | 2): Promise<Catch[]> {
  const { store, world } = await askedDesk(waits);
  const [open] = await world.openEffects();
  const settle = (answer: string) => world.settle(open?.effect ?? '', { status: 'ok', payload: { answer } });
  await settle('yes');
  const before = await world.state(DESK);
  const again = times === 2 ? await settle('no') : undefined;
  await world.verify();
  const after = await world.state(DESK);
  await world.close();
  const late = await lateIn(store);
  if (again !== undefined) assert.equal(again.status, 'already_settled');
  return late.length === 0 ? [] : [...late, ...sameBytes(after, before, 'the state is what it was')];
}

/** The record of an answer that came too late. */
async function lateIn(store: Store): Promise<Catch[]> {
  const says = (record: JournalRecord) => (record.kind === 'late' ? `${record.status} after ${record.settled}` : '');
  const names = await recordOf(store, 'late', says);
  return names === undefined ? [] : [{ where: 'journal', names }];
}

/** A person answers in time, or after the effect ended. */
async function answeredAfter(ms: number): Promise<Catch[]> {
  const adapter = scriptedAdapter(ask, [{ hang: { status: 'ok', payload: { answer: 'yes' } } }]);
  // It ignores the signal, as a server does.
  const deaf: Adapter<{ of: string }, { answer: string }> = {
    ...adapter,
    effect: ask,
    name: 'deaf',
    doExecute: (params, context) => adapter.doExecute(params, { ...context, signal: new AbortController().signal }),
  };
  const { store, clock, world } = await askedDesk(deaf);
  await clock.advance(ms);
  const before = await world.state(DESK);
  adapter.release();
  await clock.settle();
  await world.verify();
  const after = await world.state(DESK);
  await world.close();
  const late = await lateIn(store);
  return late.length === 0 ? [] : [...late, ...sameBytes(after, before, 'the state is what it was')];
}

/** An adapter answers with something of this shape. */
async function answeredWith(payload: unknown): Promise<Catch[]> {
  const adapter = scriptedAdapter(ask, [{ status: 'ok', payload: payload as { answer: string } }]);
  const { store, world } = await askedDesk(adapter);
  await world.verify();
  await world.close();
  const said = await recordOf(store, 'receipt', (record) =>
    record.kind === 'receipt' ? `${record.receipt.status} ${record.receipt.code ?? ''}` : '',
  );
  return said?.includes('validation_error') ? [{ where: 'journal', names: said.trim() }] : [];
}

/** A request with an id that was used before. */
async function askedAgain(value: Value, id: string): Promise<Catch[]> {
  const { world } = await askedDesk(scriptedAdapter(ask, () => ({ status: 'ok', payload: { answer: 'yes' } })));
  const { seq } = world.head;
  const caught = await caughtBy('request', world.request(DESK, { name: 'desk/Asked@1', value }, { id }));
  const taken = world.head.seq > seq;
  await world.close();
  if (caught.length > 0 || taken) return caught;
  return [{ where: 'no difference', names: 'the acknowledgement of the first, and no frame' }];
}

/** Opens a store that is open already, or that was closed. */
async function openedBeside(held: boolean): Promise<Catch[]> {
  const store = memory();
  const options = { store, app: deskApp, clock: new VirtualClock() };
  const first = await openKernelWorld(options);
  if (!held) await first.close();
  const caught = await caughtBy(
    'opening',
    openKernelWorld(options).then((second) => second.close()),
  );
  await first.close();
  return caught;
}

/** A writer continues after another has written, or after none has. */
async function writtenBeside(another: boolean): Promise<Catch[]> {
  const inner = memory();
  let open: OpenStore | undefined;
  const store: Store = {
    ...inner,
    open: async () => {
      open = await inner.open();
      return open;
    },
  };
  const options = { store, app: deskApp, clock: new VirtualClock(), random: seededRandom('desk'), adapters: [waits] };
  const world = await openKernelWorld(options);
  if (another && open !== undefined) await writeBehind(open);
  const request = world.request(DESK, { name: 'desk/Asked@1', value: { of: 'ann' } });
  const caught = await caughtBy('request', request);
  await world.close();
  return caught;
}

/** Appends a frame as a writer does who took the world over: past every lock, straight into the journal. */
async function writeBehind({ journal }: OpenStore): Promise<void> {
  const mutant = memory();
  const options = {
    store: mutant,
    app: deskApp,
    clock: new VirtualClock(),
    random: seededRandom('desk'),
    adapters: [waits],
  };
  const other: World = await openKernelWorld(options);
  await other.request(DESK, { name: 'desk/Asked@1', value: { of: 'bob' } });
  await other.close();
  const { frames } = await load(await mutant.openReadonly());
  await journal.append([frameAt({ frames, blobs: new Map() }, 1)], await journal.head());
}

/** A fork of the shop at frame 7, in whose past something was changed and made to fit. */
async function forkWith(edit: (records: Data[]) => readonly Data[]): Promise<Catch[]> {
  const into = memory();
  await forkWorld(await (await shopStore()).openReadonly(), { app: shopApp(), at: 7, into });
  const fork = await load(await into.openReadonly());
  return foundIn(forged(fork, 1, edit), { acknowledged: fork.frames.at(-1)?.head });
}

/** Only the plan of a step tells its session how it ended. */
const NOT_YOURS = 'not_yours';

const LIVE: readonly Row[] = [
  {
    group: GROUP,
    name: 'an answer twice',
    how: 'a settled effect is settled again, with another answer',
    caught: [
      ['journal', undefined, 'frame 4, record 1 (late): ok after ok'],
      ['no difference', undefined, 'the state is what it was'],
    ],
    broken: () => answered(2),
    sound: () => answered(1),
  },
  {
    group: GROUP,
    name: 'a late answer',
    how: 'an adapter answers four seconds after its effect timed out',
    caught: [
      ['journal', undefined, 'frame 3, record 1 (late): ok after timeout'],
      ['no difference', undefined, 'the state is what it was'],
    ],
    broken: () => answeredAfter(5_000),
    sound: () => answeredAfter(0),
  },
  {
    group: GROUP,
    name: 'an answer that has no shape',
    how: 'an adapter answers with a payload that its effect does not define',
    caught: [['journal', undefined, 'frame 2, record 0 (receipt): error validation_error']],
    broken: () => answeredWith({ answer: 5 }),
    sound: () => answeredWith({ answer: 'yes' }),
  },
  {
    group: GROUP,
    name: 'a stale epoch',
    how: 'a session gets the failure of a step that has ended',
    caught: [['request', 'request_rejected', NOT_YOURS]],
    broken: () => toldOfStep('outside', 1),
    sound: () => toldOfStep('model'),
  },
  {
    group: GROUP,
    name: 'an answer from nobody',
    how: 'a session gets the failure of its current step, but not from the plan of that step',
    caught: [['request', 'request_rejected', NOT_YOURS]],
    broken: () => toldOfStep('outside'),
    sound: () => toldOfStep('model'),
  },
  {
    group: GROUP,
    name: 'a request twice',
    how: 'the same request with the same id',
    caught: [['no difference', undefined, 'the acknowledgement of the first, and no frame']],
    broken: () => askedAgain({ of: 'ann' }, 'q'),
    sound: () => askedAgain({ of: 'ann' }, 'q-2'),
  },
  {
    group: GROUP,
    name: 'another request under the same id',
    how: 'an id that another request has used',
    caught: [['request', 'request_conflict', 'frame 1: request q was made before with other content']],
    broken: () => askedAgain({ of: 'bob' }, 'q'),
    sound: () => askedAgain({ of: 'bob' }, 'q-2'),
  },
  {
    group: GROUP,
    name: 'a second writer',
    how: 'a world is opened that is open already',
    caught: [['opening', 'world_locked', 'memory: this store is already open']],
    broken: () => openedBeside(true),
    sound: () => openedBeside(false),
  },
  {
    group: GROUP,
    name: 'a stale fence',
    how: 'a writer continues after another writer has appended',
    caught: [['request', 'fenced', 'another writer has appended to this journal']],
    broken: () => writtenBeside(true),
    sound: () => writtenBeside(false),
  },
  {
    group: GROUP,
    name: 'a fork’s past',
    how: 'an earlier request that a fork shares with its original, with all heads recomputed',
    caught: [['verification', 'replay_divergence', 'frame 1, record 1 (fact), `$.value.total`: `300` → `30`']],
    broken: () =>
      forkWith((records) => changed(records, 0, { event: { name: 'shop/Added@1', value: { sku: 'tea', cents: 30 } } })),
    sound: () => forkWith((records) => records),
  },
];

/** Answers, writers and rules. */
export const RECEIPTS: readonly Row[] = [...FORGED, ...LIVE];
