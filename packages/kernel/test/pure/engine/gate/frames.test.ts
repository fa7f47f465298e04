/** Frames through the gate: what a principal sees of the journal, what is withheld, and how it can tell. */
import type { JournalRecord, PolicyRule, Principal } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { deferEffect, openKernelWorld, type World, type WorldFrame } from '../../../../src/index.js';
import { encode, equalBytes } from '../../../../src/pure/codec/index.js';
import type { ReadableFrame } from '../../../../src/run/world/read/readable-frames.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, isPending } from '../../../support/judge.js';
import { add, ask, cell, end, fact, lab, log, note, once, send, start, tellCell, wake } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const { app } = lab({
  *work(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'work', status);
  },
});

const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;
const address = (key: string) => cell(key).join('/');
const deny = (key: string, who = 'human:*'): PolicyRule => ({ read: address(key), who, decision: 'deny' });
const ALLOWED: readonly PolicyRule[] = [
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
];

async function given(rules: readonly PolicyRule[], snapshotEvery = 0) {
  const store = crashable();
  const adapter = outside(once);
  const clock = new TestClock();
  const policy = [...rules, ...ALLOWED];
  const world = await openKernelWorld({
    store,
    app,
    policy,
    clock,
    recheckEvery: 1,
    snapshotEvery,
    adapters: [adapter],
  });
  return { store, adapter, clock, world };
}

const rights = (world: World, of: Principal, may: Record<string, string[]> | null, expires?: number) =>
  world.command('sys/SetRights@1', {
    holder: of,
    exercise: may === null ? null : { may, ...(expires === undefined ? {} : { expires_at: expires }) },
  });

/** The durable frames from a number on, as a principal sees them. */
async function framesAs(world: World, who: Principal, from = 0): Promise<ReadableFrame[]> {
  const leave = new AbortController();
  const shown: ReadableFrame[] = [];
  const reading = (async () => {
    for await (const frame of world.as(who).frames(from, leave.signal)) shown.push(frame);
  })();
  await isPending(reading);
  leave.abort();
  await reading;
  return shown;
}

async function frames(world: World): Promise<WorldFrame[]> {
  const all: WorldFrame[] = [];
  for await (const frame of world.frames()) {
    all.push(frame);
    if (frame.seq === world.head.seq) break;
  }
  return all;
}

const kinds = (shown: readonly ReadableFrame[]) =>
  shown.map(({ records }) => records.map((record) => record?.kind ?? null));
const recordsIn = (shown: readonly ReadableFrame[]) =>
  shown.flatMap(({ records }) => records).filter((record): record is JournalRecord => record !== null);

/** What is shown is what is there, in its place, and the rest is counted. */
function expectHonest(shown: readonly ReadableFrame[], all: readonly WorldFrame[]): void {
  for (const { seq, at, head, records, withheld } of shown) {
    const whole = all[seq] as WorldFrame;
    expect({ seq, at, head }).toEqual({ seq: whole.seq, at: whole.at, head: whole.head });
    expect(records).toHaveLength(whole.records.length);
    expect(withheld.records).toBe(records.filter((record) => record === null).length);
    expect(withheld.records).toBeLessThan(records.length);
    for (const [i, record] of records.entries()) {
      const is = whole.records[i] as JournalRecord;
      if (record === null) continue;
      if (record.kind !== 'state' || is.kind !== 'state') expect(equalBytes(encode(record), encode(is))).toBe(true);
      else expect(record.leaves.length + withheld.leaves).toBe(is.leaves.length);
    }
  }
}

describe('given a cell that a rule keeps from people', () => {
  it('a subscription of people withholds and counts whatever mentions the hidden cell, and shows the rest as journaled [GATE-16, GATE-17]', async () => {
    const { world, store, adapter } = await given([deny('secret')]);
    await ask(world, 'open', [send('secret', note('sent')), fact('said'), add(1), log('item')]);
    await ask(world, 'secret', [fact('hidden'), log('hidden'), wake('soon', 1_000_000), start('work', 'hidden')]);
    (await adapter.call(0)).answer(ok('hidden'));
    await world.pump();
    await ask(world, 'secret', [send('open', note('told'))]);
    await rights(world, holder('secret'), null);
    await rights(world, holder('open'), null);
    const all = await frames(world);
    const shown = await framesAs(world, 'human:ann');
    expectHonest(shown, all);
    expect(JSON.stringify(recordsIn(shown))).not.toContain('hidden');
    const said = recordsIn(shown).filter(({ kind }) => kind !== 'manifest' && kind !== 'request'); // tests' own words
    expect(JSON.stringify(said)).not.toContain('secret');
    expect(kinds(shown)).toEqual([
      ['manifest', 'state'],
      ['request', null, 'fact', 'state'],
      [null, null, 'state'], // what the secret one sent: the state of whom it told; its own did not change
      [null, 'state'], // its rights; that rights were ever set is the world's own
      ['command', 'state'],
    ]);
    expect(shown.map(({ withheld }) => withheld.leaves)).toEqual([0, 1, 0, 1, 0]);
    expect(shown.at(-1)?.head).toBe(world.head.digest);
    await closeSound(world, store, app);
  });

  it('a subscription of the operator shows every frame whole', async () => {
    const { world, store } = await given([deny('secret', '*')]);
    await ask(world, 'secret', [note('x')]);
    const shown = await framesAs(world, 'operator');
    expect(shown.map(({ withheld: _, ...frame }) => frame)).toEqual(await frames(world));
    expect(shown.every(({ withheld }) => withheld.records === 0 && withheld.leaves === 0)).toBe(true);
    await closeSound(world, store, app);
  });

  it('the erasure of data of the hidden cell, and its own requests, are withheld as well', async () => {
    const { world, store } = await given([deny('secret')]);
    await rights(world, holder('secret'), null);
    for (const key of ['open', 'secret']) await ask(world, key, [log('item')]);
    const { seq } = world.head;
    await world.erase({ cell: cell('secret') });
    await world.erase({ cell: cell('open') });
    await ask(world, 'open', [note('by the host')]);
    await ask(world, 'secret', [note('by the secret one')], { as: holder('secret') });
    await ask(world, 'open', [note('by the host')]);
    const shown = await framesAs(world, 'human:ann', seq + 1);
    expect(shown.map(({ seq: at, records: [first] }) => [at - seq, first?.kind])).toEqual([
      [1, undefined],
      [2, 'erase'],
      [3, 'request'],
      [5, 'request'],
    ]);
    await closeSound(world, store, app);
  });

  it('the denial of a refused event is withheld from readers who may not read its sender', async () => {
    const { world, store } = await given([
      deny('secret'),
      { send: `${address('secret')}#*`, who: holder('open'), decision: 'deny' },
    ]);
    await ask(world, 'secret', []);
    await ask(world, 'open', [send('secret', note('x')), fact('said')]);
    const last = (await framesAs(world, 'human:ann')).at(-1) as ReadableFrame;
    expect((await frames(world)).at(-1)?.records.map(({ kind }) => kind)).toContain('denial');
    expect(last.records.map((record) => record?.kind ?? null)).not.toContain('denial');
    await closeSound(world, store, app);
  });
});

describe('given records that belong to no cell', () => {
  it('manifests, accounts and snapshots are withheld from a reader with rights for some cells but not for `*`', async () => {
    const { world, store } = await given([]);
    await rights(world, 'human:ann', { read: [`${address('mine')}*`] });
    await world.command('sys/SetAccount@1', { account: 'all', parent: null, limits: {} });
    await ask(world, 'theirs', [note('x')]);
    await ask(world, 'mine', [note('x')]);
    await world.snapshot();
    expect(kinds(await framesAs(world, 'human:ann'))).toEqual([['request', 'state']]);
    for (const pattern of ['w*', 'world', 'sys/*']) {
      await rights(world, 'human:bob', { read: [pattern] });
      expect(await framesAs(world, 'human:bob'), pattern).toEqual([]);
    }
    await rights(world, 'human:ann', { read: ['*'] });
    expect((await framesAs(world, 'human:ann')).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await closeSound(world, store, app);
  });
});

describe('given a subscription', () => {
  it('each frame is judged by the rights at the time when it is handed out, although the right was revoked and restored before [GATE-17]', async () => {
    const { world, store } = await given([]);
    await ask(world, 'mine', [note('1')]);
    const seen: number[] = [];
    const reader = world.as('human:ann').frames(1);
    const next = async () => seen.push((await reader.next()).value?.seq ?? -1);
    await next();
    await ask(world, 'mine', [note('2')]);
    await ask(world, 'mine', [note('3')]);
    await next();
    await rights(world, 'human:ann', { read: [] }); // frame 4; frame 3 has not been handed out yet
    const waiting = next();
    expect(await isPending(waiting)).toBe(true);
    expect(await codeOf(world.as('human:ann').state(cell('mine')))).toBe('cap_denied');
    await rights(world, 'human:ann', { read: [`${address('mine')}*`] });
    await ask(world, 'mine', [note('4')]);
    await waiting;
    expect(seen).toEqual([1, 2, 6]);
    await reader.return(undefined);
    await closeSound(world, store, app);
  });

  it('nothing more is shown after the right has expired, although no record says so [GATE-7]', async () => {
    const { world, store, clock } = await given([]);
    await rights(world, 'human:ann', { read: ['*'] }, clock.wall() + 50);
    await ask(world, 'mine', [note('1')]);
    const reader = world.as('human:ann').frames(2);
    expect((await reader.next()).value?.seq).toBe(2);
    clock.advance(50);
    await ask(world, 'mine', [note('2')]);
    const leave = new AbortController();
    expect(await framesAs(world, 'human:ann', 2)).toEqual([]);
    const waiting = reader.next();
    expect(await isPending(waiting)).toBe(true);
    leave.abort();
    await world.close();
    expect((await waiting).done).toBe(true);
    const again = await openKernelWorld({ store, app, drive: 'manual' });
    await closeSound(again, store, app);
  });

  it('receipts of effects that were open when a subscription begins are shown to those who saw the effects', async () => {
    for (const snapshotEvery of [0, 3]) {
      const { world, store, adapter } = await given([deny('secret')], snapshotEvery);
      for (const key of ['mine', 'secret']) await ask(world, key, [start('work', key)]);
      for (let i = 0; i < 4; i++) await ask(world, 'other', [add(1)]);
      const { seq } = world.head;
      (await adapter.call(0)).answer(ok('mine'));
      (await adapter.call(1)).answer(deferEffect({ to: 'human:*' }));
      await world.pump();
      const [item] = await world.pending();
      await world.settle(String(item?.id), { status: 'ok', payload: { got: 'secret' } });
      const [whole, late] = [await framesAs(world, 'human:ann'), await framesAs(world, 'human:ann', seq + 1)];
      expect(late).toEqual(whole.filter((frame) => frame.seq > seq));
      expect(recordsIn(late).map(({ kind }) => kind)).toContain('receipt');
      expect(JSON.stringify(recordsIn(late))).not.toContain('secret');
      await closeSound(world, store, app);
    }
  });

  it('a subscription ends when its reader stops, also within a series of frames that are withheld', async () => {
    const { world, store } = await given([deny('secret')]);
    for (let i = 0; i < 5; i++) await ask(world, 'secret', [add(1)]);
    await ask(world, 'open', [add(1)]);
    expect((await world.as('human:ann').frames(1).next()).value?.seq).toBe(6);
    expect((await world.as('human:ann').frames(1, AbortSignal.abort()).next()).done).toBe(true);
    expect(await framesAs(world, 'human:ann', 7)).toEqual([]);
    await closeSound(world, store, app);
  });
});

describe('given cells that read', () => {
  it('a cell that subscribes sees itself, its parent and its descendants, and not their dealings with others', async () => {
    const { world, store } = await given([]);
    await ask(world, 'p', [send('kid', send('grandkid', note('x')))]);
    await ask(world, 'stranger', [send('kid', note('from a stranger'))]);
    for (const key of ['p', 'kid', 'grandkid', 'stranger']) await ask(world, key, [add(1)]);
    const shown = await framesAs(world, holder('kid'));
    expect(shown.map(({ seq, withheld }) => [seq, withheld])).toEqual([
      [1, { records: 0, leaves: 0 }],
      [2, { records: 2, leaves: 1 }],
      [3, { records: 0, leaves: 0 }],
      [4, { records: 0, leaves: 0 }],
      [5, { records: 0, leaves: 0 }],
    ]);
    await closeSound(world, store, app);
  });

  it('a maker sees nothing of the earlier cell at the address of its child, from any position', async () => {
    const { world, store, adapter } = await given([], 4);
    await ask(world, 'first', [send('kid', note('of the first'), start('work', 'of the first'))]);
    await ask(world, 'kid', [add(1)]);
    await ask(world, 'kid', [end()]);
    await ask(world, 'second', []);
    await ask(world, 'second', [send('kid', note('of the second'))]);
    const made = world.head.seq;
    (await adapter.call(0)).answer(ok('of the first')); // the effect that was left behind
    await world.pump();
    const told = [(await ask(world, 'kid', [add(2)])).seq, (await ask(world, 'kid', [add(3)])).seq];
    const later = world.head.seq;
    for (const from of [0, 2, made, made + 1, later]) {
      const shown = await framesAs(world, holder('second'), from);
      expect(JSON.stringify(recordsIn(shown)), `from ${from}`).not.toContain('of the first');
      const asked = shown.filter(({ records: [first] }) => first?.kind === 'request' && first.to[1] === 'kid');
      expect(
        asked.map(({ seq }) => seq),
        `from ${from}`,
      ).toEqual(told.filter((seq) => seq >= from));
    }
    expect(JSON.stringify(recordsIn(await framesAs(world, holder('first'))))).not.toContain('of the second');
    await closeSound(world, store, app);
  });

  it('the maker of a cell sees how the effects of that cell end, for each generation that it made', async () => {
    const { world, store, adapter } = await given([]);
    for (const [n, maker] of ['first', 'second'].entries()) {
      await ask(world, maker, []);
      await ask(world, maker, [send('kid', start('work', n))]);
      const { seq } = world.head;
      (await adapter.call(n)).answer(ok(n));
      await world.pump();
      for (const from of [0, seq + 1]) {
        const receipts = recordsIn(await framesAs(world, holder(maker), from)).filter(({ kind }) => kind === 'receipt');
        expect(receipts, `${maker} from ${from}`).toHaveLength(1);
      }
      await ask(world, 'kid', [end()]);
    }
    await closeSound(world, store, app);
  });
});
