/** What receivers are told, when they are told it again, and what an operator sees. The clock is the test's; HTTP is real. */
import type { AgentWorld } from '@reprise/agent';
import { RepriseError } from '@reprise/contracts';
import { type Clock, memory, type Store } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { webhooks } from '../src/index.js';
import { outboxReducer } from '../src/pure/index.js';
import { type Mood, Receiver } from './support/receiver.js';
import { agent, drive, newSecret, opened, partFor, type Secrets, turn } from './support/world.js';

const HOUR = 3_600_000;
const OUTBOX = 'webhooks/Outbox@1';
const secrets = { ops: newSecret(), other: newSecret() };

let ops: Receiver;
let other: Receiver;
let clock: VirtualClock;
let store: Store;
beforeEach(async () => {
  [ops, other] = await Promise.all([Receiver.listen(secrets.ops), Receiver.listen(secrets.other)]);
  clock = new VirtualClock();
  store = memory();
});
afterEach(() => Promise.all([ops.close(), other.close()]));

type HooksPart = ReturnType<typeof webhooks>;

const open = (part: HooksPart, own: Secrets = secrets, time: Clock = clock) =>
  opened({ store, secrets: own, clock: time, part });

async function said(world: AgentWorld, message: string, session = 's'): Promise<void> {
  await (await world.session(session, agent).send(message)).endedOrWaiting();
}

const typesOf = ({ received }: Receiver) => received.map(({ body }) => (JSON.parse(body) as { type: string }).type);

async function statusOf(world: AgentWorld, part: HooksPart, name = 'ops') {
  const [status] = (await world.part(part).receiversNow()).filter(({ receiver }) => receiver === name);
  if (status === undefined) throw new Error(`no receiver ${name}`);
  return status;
}

/** Waits, without moving the clock, until an outbox has so many deliveries and none is under way but those that hang. */
async function settled(world: AgentWorld, part: HooksPart, due: number, name = 'ops'): Promise<void> {
  for (;;) {
    const { waiting, delivered, undelivered } = await statusOf(world, part, name);
    const underWay = (await world.kernel.table([OUTBOX, name], 'under_way')).length;
    if (waiting + delivered + undelivered >= due && underWay <= ops.hanging + other.hanging) return;
    await turn();
  }
}

/** Moves the clock on for so long, whenever nothing is under way. */
async function pass(world: AgentWorld, ms: number): Promise<void> {
  const until = clock.monotonic() + ms;
  const quiet = async () => {
    const rows = await Promise.all(['ops', 'other'].map((name) => world.kernel.table([OUTBOX, name], 'under_way')));
    return rows.flat().length <= ops.hanging + other.hanging;
  };
  while (clock.monotonic() < until) {
    if (!(await quiet())) await turn();
    else await clock.advance(Math.max(1, Math.min(clock.nextWakeIn ?? until, until - clock.monotonic())));
  }
  while (!(await quiet())) await turn();
}

async function factsOf(world: AgentWorld, name: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const { seq, records } of world.kernel.frames()) {
    for (const record of records) if (record.kind === 'fact' && record.name === name) found.push(record.value);
    if (seq >= world.kernel.head.seq) break;
  }
  return found;
}

describe('what a receiver is told', () => {
  it('a receiver is told of an approval that waits, of the end of a run and of a failed one, in signed messages of the three headers and without a word of content [HOOK-1, HOOK-6]', async () => {
    const part = partFor({ ops });
    const world = await open(part);
    await said(world, 'Hi there, my name is Ann');
    await said(world, 'fail', 't');
    await said(world, 'book', 'u');
    await settled(world, part, 3);
    expect(typesOf(ops).sort()).toEqual(['item.waiting', 'run.ended', 'run.failed']);
    expect(ops.received.every(({ isSigned }) => isSigned)).toBe(true);
    const [item] = await world.pending();
    const waiting = ops.received.map(({ body }) => JSON.parse(body)).find(({ type }) => type === 'item.waiting');
    expect(waiting).toMatchObject({
      type: 'item.waiting',
      timestamp: new Date(item?.since ?? 0).toISOString(),
      data: { world_id: world.kernel.id, session_id: 'u', item_id: item?.id, item_kind: 'approval', tool: 'book' },
    });
    expect(ops.received.map(({ body }) => body).join()).not.toMatch(/Ann|Rome|Done|Hi there/);
    await world.close();
  });

  it('a receiver is told of the topics and sessions that it wants, and not of what sessions of others ended [HOOK-1]', async () => {
    const part = webhooks(
      {
        ops: { url: ops.url, secret: 'ops', on: ['failed'] },
        other: {
          url: other.url,
          secret: 'other',
          on: ['ended', 'waiting'],
          sessions: ({ session }) => session === 'u',
        },
      },
      { allowPrivate: [ops.host, other.host] },
    );
    const world = await open(part);
    for (const [message, session] of [
      ['Hi', 's'],
      ['fail', 't'],
      ['Hi', 'u'],
      ['book', 'v'],
    ] as const)
      await said(world, message, session);
    await settled(world, part, 1);
    await settled(world, part, 1, 'other');
    expect([typesOf(ops), typesOf(other)]).toEqual([['run.failed'], ['run.ended']]);
    await world.close();
  });

  it('a filter of the app that throws leaves nothing out [HOOK-1]', async () => {
    const part = partFor(
      { ops },
      {
        sessions: () => {
          throw new Error('a mistake');
        },
      },
    );
    const world = await open(part);
    await said(world, 'Hi');
    await settled(world, part, 1);
    expect(typesOf(ops)).toEqual(['run.ended']);
    await world.close();
  });

  it('a session whose state cannot be read keeps back no notice, neither of it nor of others [HOOK-1]', async () => {
    const part = partFor({ ops });
    const world = await open(part);
    const read = world.kernel.state.bind(world.kernel);
    let isBroken = false;
    const broken = new RepriseError('migration_failed', 'a defect', { where: 'broken' }); // as after a defective migration
    vi.spyOn(world.kernel, 'state').mockImplementation(async (cell) => {
      if (Array.isArray(cell) && cell[1] === 'broken' && isBroken) throw broken;
      return read(cell);
    });
    await world.session('broken', agent).send('Hi');
    isBroken = true;
    await settled(world, part, 1);
    await said(world, 'Hi', 'sound');
    await settled(world, part, 2);
    expect(typesOf(ops)).toEqual(['run.ended', 'run.ended']);
    await world.close();
  });

  it('a receiver that is added later is told of what happens from then on [HOOK-2]', async () => {
    const first = await open(partFor({ ops }));
    await said(first, 'Hi');
    await first.close();
    const part = partFor({ ops, other });
    const world = await open(part);
    await said(world, 'fail', 't');
    await settled(world, part, 1, 'other');
    await settled(world, part, 2);
    expect([typesOf(ops), typesOf(other)]).toEqual([['run.ended', 'run.failed'], ['run.failed']]);
    await world.close();
  });

  it('a delivery has a signature by each of several secrets, so that a receiver changes over from one to the next [HOOK-6]', async () => {
    const next = newSecret();
    const part = partFor({ ops }, { secret: ['next', 'ops'] });
    const world = await open(part, { ...secrets, next });
    await said(world, 'Hi');
    await settled(world, part, 1);
    const [{ body, headers, isSigned } = { body: '', headers: {}, isSigned: false }] = ops.received;
    expect(isSigned).toBe(true);
    expect(() => new Webhook(next).verify(body, headers as Record<string, string>)).not.toThrow();
    expect(() => new Webhook(newSecret()).verify(body, headers as Record<string, string>)).toThrow();
    await world.close();
  });

  it('neither the address of a receiver nor its secret stands in the journal [HOOK-5]', async () => {
    const part = partFor({ ops });
    const world = await open(part);
    await said(world, 'Hi');
    await settled(world, part, 1);
    await world.close();
    const reader = await store.openReadonly();
    let all = '';
    for await (const { bytes } of reader.journal.read(0)) all += Buffer.from(bytes).toString('latin1');
    expect(all).toContain(OUTBOX);
    expect(all).not.toContain(ops.host);
    expect(all).not.toContain(secrets.ops.slice(6));
    await reader.close();
  });

  it('a person may not tell an outbox of anything [HOOK-5]', async () => {
    const part = partFor({ ops });
    const world = await open(part);
    const asked = world.kernel.request(
      [OUTBOX, 'ops'],
      { name: 'webhooks/Retry@1', value: { id: null } },
      { as: 'human:ann' },
    );
    await expect(asked).rejects.toMatchObject({ code: 'policy_denied' });
    await world.close();
  });
});

describe('a delivery that is not taken', () => {
  const moods: readonly Mood[] = ['fails', 'hangs', 'redirects', 'cuts'];
  for (const mood of moods)
    it(`a receiver that ${mood} is tried again with the same id for 24 hours, then the delivery is said to be undelivered [HOOK-3, HOOK-7, HOOK-8]`, async () => {
      ops.mood = () => mood;
      const part = partFor({ ops });
      const world = await open(part);
      await said(world, 'Hi');
      await settled(world, part, 1);
      await pass(world, 24 * HOUR - 60_000);
      expect(await statusOf(world, part)).toMatchObject({ waiting: 1, undelivered: 0 });
      await pass(world, 60_000);
      expect(await statusOf(world, part)).toMatchObject({ waiting: 0, undelivered: 1 });
      const [lost] = await world.part(part).undelivered('ops');
      expect(lost).toMatchObject({ type: 'run.ended', attempts: ops.received.length });
      expect(new Set(ops.received.map(({ id }) => id))).toEqual(new Set([lost?.id]));
      expect(ops.received.length).toBeGreaterThan(12);
      expect(ops.received.length).toBeLessThan(20);
      expect(await factsOf(world, 'webhooks/Undelivered@1')).toMatchObject([{ id: lost?.id, code: lost?.code }]);
      await world.close();
    });

  it('an undelivered one is taken up again with its id when an operator says so [HOOK-8]', async () => {
    ops.mood = () => 'fails';
    const part = partFor({ ops });
    const world = await open(part);
    await said(world, 'Hi');
    await settled(world, part, 1);
    await pass(world, 25 * HOUR);
    const [lost] = await world.part(part).undelivered('ops');
    expect(await world.trouble()).toMatchObject([{ kind: 'service_failing', where: `webhooks ops (${ops.host})` }]);
    ops.mood = () => 'takes';
    await expect(world.part(part).retry('ops', { id: 'msg_other' })).rejects.toMatchObject({
      code: 'request_rejected',
    });
    await world.part(part).retry('ops', { id: lost?.id ?? '' });
    await drive(
      clock,
      async () => (await statusOf(world, part)).delivered === 1,
      async () => false,
    );
    expect(ops.received.at(-1)?.id).toBe(lost?.id);
    expect(await world.part(part).undelivered('ops')).toEqual([]);
    expect(await world.trouble()).toEqual([]);
    await world.close();
  });

  it('nothing is sent to a receiver that answers 410 until an operator says so, which is a fact each time [HOOK-9]', async () => {
    ops.mood = () => 'is gone';
    const part = partFor({ ops });
    const world = await open(part);
    await said(world, 'Hi');
    await settled(world, part, 1);
    await drive(
      clock,
      async () => (await statusOf(world, part)).gone,
      async () => false,
    );
    const frames = world.kernel.head.seq;
    await said(world, 'Hi');
    await pass(world, 2 * HOUR);
    expect(ops.received.length).toBe(1);
    const told = [];
    for await (const {
      seq,
      records: [first],
    } of world.kernel.frames(frames + 1)) {
      if (first?.kind === 'request' && first.to[0] === OUTBOX) told.push(seq);
      if (seq >= world.kernel.head.seq) break;
    }
    expect(told).toEqual([]); // a receiver that is gone costs the journal nothing
    expect(await world.part(part).undelivered('ops')).toMatchObject([{ code: 'gone', attempts: 1 }]);
    ops.mood = () => 'takes';
    await world.part(part).retry('ops');
    await said(world, 'fail');
    await drive(
      clock,
      async () => (await statusOf(world, part)).delivered === 2,
      async () => false,
    );
    expect([await factsOf(world, 'webhooks/Gone@1'), await factsOf(world, 'webhooks/Returned@1')]).toMatchObject([
      [{}],
      [{}],
    ]);
    await world.close();
  });

  it('a receiver that asks to wait is left alone for that time, and for an hour at most [HOOK-7]', async () => {
    ops.mood = () => 'asks to wait';
    const part = partFor({ ops });
    const world = await open(part);
    await said(world, 'Hi');
    await settled(world, part, 1);
    ops.retryAfter = '86400';
    await pass(world, 590_000);
    expect(ops.received.length).toBe(1);
    await pass(world, 20_000);
    expect(ops.received.length).toBe(2);
    await pass(world, HOUR - 30_000);
    expect(ops.received.length).toBe(2);
    await pass(world, 60_000);
    expect(ops.received.length).toBe(3);
    await world.close();
  });

  it('a secret that is no secret of Standard Webhooks is said, and nothing is sent with it [HOOK-6]', async () => {
    const part = partFor({ ops });
    const world = await open(part, { ops: 'short' });
    await said(world, 'Hi');
    await settled(world, part, 1);
    await expect
      .poll(async () => (await world.part(part).waiting('ops'))[0]?.code)
      .toBe('adapter_error/webhook_secret');
    expect(ops.received).toEqual([]);
    await world.close();
  });
});

describe('a dead receiver', () => {
  const NOTICES = 32;
  /** Tells an outbox of a thousand things at once, as the follower does. */
  async function flood(world: AgentWorld, name: string, requests: number): Promise<void> {
    for (let i = 0; i < requests; i++) {
      const seq = 1_000_000 + i;
      const notices = Array.from({ length: NOTICES }, (_, record) => ({
        ...{ record, type: 'run.ended', at: world.kernel.now },
        data: { world_id: world.kernel.id, event_seq: `${seq}.${record}`, cell: ['app/A@1', 'a'] },
      }));
      await world.kernel.request([OUTBOX, name], { name: 'webhooks/Due@1', value: { seq, notices, last: true } });
    }
  }

  it('a dead receiver costs some 150 attempts a day however much waits for it, and what exceeds a thousand is said to be undelivered at once [HOOK-10, HOOK-11]', async () => {
    ops.mood = () => 'fails';
    const part = partFor({ ops });
    const world = await open(part);
    await flood(world, 'ops', 33);
    await settled(world, part, 33 * NOTICES);
    const { waiting, undelivered } = await statusOf(world, part);
    expect(waiting).toBe(1_000);
    await world.part(part).retry('ops'); // takes up nothing: the outbox is full
    const [first] = await world.part(part).undelivered('ops');
    await expect(world.part(part).retry('ops', { id: first?.id ?? '' })).rejects.toThrow(
      /request_rejected.*outbox_full/,
    );
    expect((await statusOf(world, part)).waiting).toBe(1_000);
    expect(undelivered).toBe(33 * NOTICES - waiting);
    const [head, bytes] = [world.kernel.head.seq, ops.received.length];
    await pass(world, 23 * HOUR);
    expect(ops.received.length - bytes).toBeLessThan(160);
    expect(world.kernel.head.seq - head).toBeLessThan(3 * 160);
    await pass(world, 2 * HOUR);
    expect(await statusOf(world, part)).toMatchObject({ waiting: 0, undelivered: 33 * NOTICES });
    expect((await world.part(part).undelivered('ops')).length).toBe(256);
    expect((await factsOf(world, 'webhooks/Undelivered@1')).length).toBe(33 * NOTICES);
    await world.close();
  });

  it('a receiver that hangs has one delivery under way, and keeps back no other receiver [HOOK-10]', async () => {
    ops.mood = () => 'hangs';
    const part = partFor({ ops, other });
    const world = await open(part);
    await flood(world, 'ops', 2);
    for (let i = 0; i < 5; i++) await said(world, 'Hi', `s${i}`);
    await drive(
      clock,
      async () => (await statusOf(world, part, 'other')).delivered === 5,
      async () => false,
    );
    expect(ops.received.length).toBe(4);
    await pass(world, 60_000); // those four have failed: from now on there is one at a time
    const most = async () => (await world.kernel.table([OUTBOX, 'ops'], 'under_way')).length;
    for (let i = 0; i < 20; i++) {
      await pass(world, 10_000);
      expect(await most()).toBeLessThanOrEqual(1);
    }
    ops.mood = () => 'takes';
    await pass(world, 3 * HOUR);
    expect(await statusOf(world, part)).toMatchObject({ waiting: 0, delivered: 64 }); // its own runs lie before what it was flooded with
    await world.close();
  });
});

describe('an outbox that goes on', () => {
  it('a notice that is brought again, alone or with others of its frame, enters an outbox once [HOOK-2]', async () => {
    ops.mood = () => 'fails';
    const part = partFor({ ops });
    const world = await open(part);
    const bring = (records: readonly number[], last: boolean, seq = 1_000) => {
      const data = { world_id: world.kernel.id, event_seq: `${seq}.0`, cell: ['app/A@1', 'a'] };
      const notices = records.map((record) => ({ record, type: 'run.ended', at: 1, data }));
      return world.kernel.request([OUTBOX, 'ops'], { name: 'webhooks/Due@1', value: { seq, notices, last } });
    };
    await bring([1, 4], false);
    await settled(world, part, 2);
    await pass(world, 10); // what is brought at another time is not told apart by its time
    await bring([1, 4], false); // a process died before the rest, and the next one begins again
    await bring([1, 4, 6], true);
    await bring([1, 4, 6], true);
    await bring([7], true);
    await bring([2], true, 999);
    await settled(world, part, 3);
    await drive(
      clock,
      async () => (await world.part(part).waiting('ops')).length >= 3,
      async () => false,
    );
    expect((await world.part(part).waiting('ops')).length).toBe(3);
    await world.close();
  });

  it('an outbox goes on from the very frame that it has not taken in, also in another process [HOOK-2]', async () => {
    const deaf = await open(partFor({ ops }, { sessions: () => false }));
    await said(deaf, 'fail', 't');
    await said(deaf, 'Hi');
    let end = 0;
    for await (const { seq, records } of deaf.kernel.frames()) {
      if (records.some((one) => one.kind === 'fact' && JSON.stringify(one.value).includes('"to":"Completed"')))
        end = seq;
      if (seq >= deaf.kernel.head.seq) break;
    }
    await deaf.kernel.request([OUTBOX, 'ops'], { name: 'webhooks/Looked@1', value: { looked: end } });
    await deaf.close();
    const part = partFor({ ops });
    const world = await open(part);
    await settled(world, part, 1);
    await said(world, 'book', 'u');
    await settled(world, part, 2);
    expect(typesOf(ops)).toEqual(['run.ended', 'item.waiting']);
    await world.close();
  });

  it('an outbox that has failed keeps back no other one, and is told what it has missed when it was revived [HOOK-4]', async () => {
    let isBroken = false;
    const reduce: typeof outboxReducer.reduce = (draft, event, ctx) => {
      if (isBroken && ctx.address[1] === 'ops' && event.name === 'webhooks/Attempted@1') throw new Error('a defect');
      return outboxReducer.reduce(draft, event, ctx);
    };
    const part = { ...partFor({ ops, other }), reducers: [{ ...outboxReducer, reduce }] };
    const world = await open(part);
    await said(world, 'Hi');
    await settled(world, part, 1);
    isBroken = true;
    for (let i = 0; i < 3; i++) await said(world, 'fail', `s${i}`);
    await settled(world, part, 4, 'other');
    expect(typesOf(ops)).toEqual(['run.ended', 'run.failed']);
    expect(await world.trouble()).toMatchObject([{ kind: 'cell_failed', where: [OUTBOX, 'ops'] }]);
    isBroken = false;
    await world.revive([OUTBOX, 'ops']);
    await settled(world, part, 4);
    await pass(world, 60_000); // what was under way when the cell failed is sent again
    const ids = new Set(ops.received.filter(({ body }) => body.includes('run.failed')).map(({ id }) => id));
    expect([ids.size, (await statusOf(world, part)).delivered]).toEqual([3, 4]);
    expect(typesOf(other).sort()).toEqual(['run.ended', 'run.failed', 'run.failed', 'run.failed']);
    await world.close();
  });

  it('a dry fork tells nobody, and a fork that lives tells of its own runs [HOOK-12]', async () => {
    const part = partFor({ ops });
    const world = await open(part);
    await said(world, 'Hi');
    await settled(world, part, 1);
    const taken = ops.received.length;
    for (const mode of ['dry', 'live'] as const) {
      const to = memory();
      await world.fork({ into: to, mode, ...(mode === 'live' ? { grants: { may: {} } } : {}) });
      const own = partFor({ ops });
      const fork = await opened({ store: to, secrets, clock, part: own });
      await said(fork, 'fail', `of ${mode}`);
      if (mode === 'live') await settled(fork, own, 2);
      await fork.close();
    }
    expect(typesOf(ops).slice(taken)).toEqual(['run.failed']);
    await world.close();
  });
});
