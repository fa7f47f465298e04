/** Sessions over HTTP, as a client sees them. */
import type { StreamItem } from '@reprise/client';
import { connect } from '@reprise/client';
import { RepriseError } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { afterEach, describe, expect, it } from 'vitest';
import { AGENT_POLICY } from '../../../agent/src/index.js';
import { EventCursors } from '../../src/api/cursors.js';
import { eventResponse } from '../../src/api/event-response.js';
import type { Visit } from '../../src/door/visit.js';
import { servedSessions } from './world.js';

type Served = Awaited<ReturnType<typeof servedSessions>>;

let served: Served | undefined;
afterEach(async () => {
  await served?.[Symbol.asyncDispose]();
  served = undefined;
});

async function serve(options: Parameters<typeof servedSessions>[0] = {}): Promise<Served> {
  served = await servedSessions(options);
  return served;
}

async function all(told: AsyncIterable<StreamItem>): Promise<StreamItem[]> {
  const found: StreamItem[] = [];
  for await (const one of told) found.push(one);
  return found;
}

const types = (told: readonly StreamItem[]) => told.flatMap((one) => ('event' in one ? [one.event.type] : []));

/** The code of a refusal. */
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    ({ status, code }) => `${status} ${code}`,
  );

describe('a message', () => {
  it('a message begins a session of its sender, whose run is followed to its end [SRV-31]', async () => {
    const { as } = await serve();
    const ann = await as('human:ann');
    const session = ann.session('ann/trip');
    const sent = await session.send({ id: 'm1', text: 'Hello', agent: 'talker' });
    expect(sent).toEqual({ session: 'ann/trip', id: 'm1', status: 'accepted', run: 0 });
    const told = await all(session.follow(0));
    expect(types(told)).toContain('llm_step.completed');
    expect(types(told).at(-1)).toBe('lifecycle');
    expect(await session.run(0)).toMatchObject({
      status: 'ended',
      text: 'You said: Hello',
      stop: { kind: 'Completed' },
    });
    expect((await session.transcript()).items.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Hello'],
      ['assistant', 'You said: Hello'],
    ]);
    expect((await ann.sessions()).items.map(({ session: key, agent }) => [key, agent])).toEqual([
      ['ann/trip', 'talker'],
    ]);
    expect(await session.read()).toMatchObject({ session: 'ann/trip', runs: 1, pending: [] });
  });

  it('the traceparent of a request is journaled with its message, and one that is not valid is left out [TRACE-18]', async () => {
    const { url, tokens, world } = await serve();
    const token = await tokens.issue('human:ann', { for: '1h' });
    const send = (id: string, traceparent: string) =>
      fetch(`${url}/sessions/ann/inputs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, traceparent },
        body: JSON.stringify({ id, text: 'Hello', agent: 'talker' }),
      });
    const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    expect([(await send('m1', valid)).status, (await send('m2', 'odd')).status]).toEqual([202, 202]);
    await world.pump();
    const stated: unknown[] = [];
    for await (const { seq, records } of world.kernel.frames()) {
      const [ingress] = records;
      if (ingress?.kind === 'request' && ingress.event.name === 'aos.agent/UserInput@1')
        stated.push(ingress.traceparent);
      if (seq === world.kernel.head.seq) break;
    }
    expect(stated).toEqual([valid, undefined]);
  });

  it('a message that is sent again with its id is the same message; another one under its id is refused [SRV-32]', async () => {
    const { as, world } = await serve();
    const session = (await as('human:ann')).session('ann');
    const first = await session.send({ id: 'm1', text: 'Hello', agent: 'talker' });
    await all(session.follow(0));
    const head = world.kernel.head.seq;
    expect(await session.send({ id: 'm1', text: 'Hello', agent: 'talker' })).toEqual(first);
    expect(await codeOf(session.send({ id: 'm1', text: 'Other' }))).toBe('409 request_conflict');
    expect(world.kernel.head.seq).toBe(head);
  });

  it('files of a message are read under the session that links them, and nowhere else [SRV-9] [SRV-31]', async () => {
    const { as } = await serve();
    const ann = await as('human:ann');
    const session = ann.session('ann/files');
    const base64 = Buffer.from('a,b\n1,2\n').toString('base64');
    await session.send({
      id: 'm',
      agent: 'talker',
      parts: [{ text: 'See' }, { base64, media_type: 'text/csv', name: 'a.csv' }],
    });
    await all(session.follow(0));
    const [link = ''] = (await session.transcript()).items[0]?.links.slice(-1) ?? [];
    const links = (await session.transcript()).items[0]?.links ?? [];
    const texts = await Promise.all(
      links.map(async (one) => Buffer.from((await session.content(one)).bytes).toString()),
    );
    expect(texts).toContain('a,b\n1,2\n');
    expect(await codeOf((await as('human:bob')).session('ann/files').content(link))).toBe('404 not_found');
    await ann.session('ann/other').send({ id: 'm', text: 'x', agent: 'talker' });
    expect(await codeOf(session.content(link.replace('ann%2Ffiles', 'ann%2Fother')))).toBe('404 not_found');
  });
});

describe('a decision', () => {
  it('a call that a person approves over HTTP is executed once; the second decision learns that it is settled [SRV-32]', async () => {
    const { as, orders } = await serve();
    const ann = await as('human:ann');
    const session = ann.session('ann');
    await session.send({ id: 'm', text: 'order tea', agent: 'clerk' });
    await expect.poll(async () => (await ann.pending()).length).toBe(1);
    const [item] = await ann.pending();
    if (item === undefined) throw new Error('nothing is pending');
    expect(item).toMatchObject({ kind: 'approval', session: 'ann', tool: 'order', args: { what: 'tea' } });
    expect(await session.run(0)).toMatchObject({ status: 'waiting', for: 'approval', pending: [{ id: item.id }] });
    const both = await Promise.all([ann.decide(item, { approve: true }), ann.decide(item, { deny: 'no' })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['already_settled', 'applied']);
    await all(session.follow(0));
    expect(orders.done.length).toBe(both[0]?.status === 'applied' ? 1 : 0);
    expect(await ann.pending()).toEqual([]);
  });

  it('an item of another principal is not there while it waits and after it was decided, and a later server tells nobody else who decided it [SRV-33]', async () => {
    const store = memory();
    let id = '';
    {
      await using served = await servedSessions({ store });
      const [ann, bob] = await Promise.all([served.as('human:ann'), served.as('human:bob')]);
      await ann.session('ann').send({ id: 'm', text: 'order tea', agent: 'clerk' });
      await expect.poll(async () => (await ann.pending()).length).toBe(1);
      id = (await ann.pending())[0]?.id ?? '';
      expect(await codeOf(bob.decide(id, { approve: true }))).toBe('404 not_found');
      expect(await ann.decide(id, { approve: true })).toEqual({ status: 'applied' });
      expect(await codeOf(bob.decide(id, { approve: true }))).toBe('404 not_found');
      expect(await ann.decide(id, { approve: true })).toMatchObject({ actor: { id: 'ann' } });
    }
    await using served = await servedSessions({ store });
    const [ann, bob] = await Promise.all([served.as('human:ann'), served.as('human:bob')]);
    expect(await bob.decide(id, { approve: true })).toEqual({ status: 'already_settled' }); // as for an id that was never an item
    expect(await bob.decide('f'.repeat(64), { approve: true })).toEqual({ status: 'already_settled' });
    expect(await ann.decide(id, { approve: true })).toMatchObject({ status: 'already_settled', actor: { id: 'ann' } });
  });

  it('a decision about something else than what was shown, and a decision that says two things, are refused [SRV-32]', async () => {
    const { as, orders } = await serve();
    const ann = await as('human:ann');
    await ann.session('ann').send({ id: 'm', text: 'order tea', agent: 'clerk' });
    await expect.poll(async () => (await ann.pending()).length).toBe(1);
    const [item] = await ann.pending();
    if (item === undefined) throw new Error('nothing is pending');
    expect(await ann.decide(item.id, { approve: true, digest: '0'.repeat(64) })).toMatchObject({ status: 'stale' });
    expect(await codeOf(ann.decide(item, { approve: true, deny: 'no' } as never))).toBe('400 invalid_argument');
    expect(orders.done).toEqual([]);
  });
});

describe('a command', () => {
  it('a command is taken once, and a refusal of the session is its answer [SRV-32]', async () => {
    const { as } = await serve();
    const session = (await as('human:ann')).session('ann');
    await session.send({ id: 'm', text: 'order tea', agent: 'clerk' });
    expect(await session.command({ id: 'c1', type: 'cancel', reason: 'changed my mind' })).toMatchObject({
      status: 'accepted',
    });
    await all(session.follow(0));
    expect(await session.command({ id: 'c1', type: 'cancel', reason: 'changed my mind' })).toMatchObject({
      status: 'accepted',
    });
    expect(await session.command({ id: 'c2', type: 'pause' })).toMatchObject({
      status: 'rejected',
      code: 'nothing_to_pause',
    });
    const { run } = await session.command({ id: 'c3', type: 'retry' });
    expect(run).toBe(1);
    expect(await session.command({ id: 'c4', type: 'close' })).toMatchObject({ status: 'accepted' });
    expect(await codeOf(session.send({ id: 'm2', text: 'more' }))).toBe('409 request_rejected');
  });
});

describe('what belongs to others', () => {
  it('a session of another person looks like one that is not there, in every operation [SRV-33]', async () => {
    const stage = await serve();
    const ann = await stage.as('human:ann');
    await ann.session('ann').send({ id: 'm', text: 'order tea', agent: 'clerk' });
    await expect.poll(async () => (await ann.pending()).length).toBe(1);
    const [item] = await ann.pending();
    const bob = await stage.as('human:bob');
    const head = stage.world.kernel.head.seq;
    const codes = async (key: string) => {
      const session = bob.session(key);
      return [
        await codeOf(session.read()),
        await codeOf(session.transcript()),
        await codeOf(session.run(0)),
        await codeOf(session.send({ id: 'x', text: 'x', agent: 'talker' })),
        await codeOf(session.command({ id: 'x', type: 'cancel' })),
        await codeOf(all(session.events())),
        await codeOf(all(session.follow(0))),
      ];
    };
    expect(await codes('ann')).toEqual(await codes('ann/none'));
    expect(new Set(await codes('ann'))).toEqual(new Set(['404 not_found']));
    expect(await bob.pending()).toEqual([]);
    expect(await codeOf(bob.decide(item?.id ?? '', { approve: true }))).toBe('404 not_found');
    expect(await codeOf(bob.decide(item?.id.slice(0, 12) ?? '', { approve: true }))).toBe('404 not_found');
    expect((await bob.sessions()).items).toEqual([]);
    expect(stage.world.kernel.head.seq).toBe(head);
  });

  it('a message that the gate refuses is a denial, and nothing is journaled [SRV-33]', async () => {
    const send = { send: 'aos.agent/SessionReducer@1/ann*', who: 'human:ann', decision: 'deny' as const };
    const { as, world } = await serve({ policy: [send, ...AGENT_POLICY] });
    await world.session('ann', world.agents.find(({ name }) => name === 'talker') as never).send('Hello');
    await expect.poll(() => world.kernel.unfinished).toBe(false);
    const head = world.kernel.head.seq;
    const ann = await as('human:ann');
    expect(await codeOf(ann.session('ann').send({ id: 'm', text: 'x' }))).toMatch(/^403 /);
    expect(await codeOf(ann.session('ann/new').send({ id: 'm', text: 'x', agent: 'talker' }))).toMatch(/^403 /);
    expect(world.kernel.head.seq).toBe(head);
  });
});

describe('events that cannot go on', () => {
  it('a client is told why events cannot go on; of an error of the server it is told nothing, and it connects again', async () => {
    const visit = { signal: new AbortController().signal } as Visit;
    const textOf = (error: Error) => {
      const open = async function* (): AsyncGenerator<never> {
        yield* [];
        throw error;
      };
      return eventResponse({
        visit,
        cursors: new EventCursors('0'.repeat(64), () => 0),
        isResumed: false,
        hasEnd: true,
        open,
      }).text();
    };
    const failed = await textOf(new RepriseError('cell_failed', 'the session has failed', { where: 'inside' }));
    expect(failed).toMatch(/^event: problem\ndata: \{.*"code":"cell_failed".*\}\n\n$/);
    expect(failed).not.toContain('inside');
    await expect(textOf(new RepriseError('world_closed', 'closed'))).rejects.toThrow('closed');
    await expect(textOf(new Error('a defect'))).rejects.toThrow('a defect');
  });

  it('a client whose events cannot go on throws what it was told', async () => {
    const body = 'event: problem\ndata: {"status":409,"code":"cell_failed","detail":"The session has failed."}\n\n';
    const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    const events = connect('http://x.test', { token: 't', fetch }).session('ann').events();
    expect(await codeOf(all(events))).toBe('409 cell_failed');
  });
});

describe('a function that gives the token', () => {
  it('an error of the function is thrown to the caller of a stream and of a request, and nothing is sent again', async () => {
    let asked = 0;
    const token = async (): Promise<string> => {
      asked += 1;
      throw new Error('nobody is signed in');
    };
    const client = connect('http://127.0.0.1:9', { token });
    await expect(all(client.session('ann').events())).rejects.toThrow('nobody is signed in');
    await expect(client.pending()).rejects.toThrow('nobody is signed in');
    expect(asked).toBe(2);
  });

  it('a token that is refused is asked for once more', async () => {
    const { url, tokens } = await serve();
    const given = ['ended', await tokens.issue('human:ann', { for: '1h' })];
    const client = connect(url, { token: () => given.shift() ?? 'none' });
    expect(await client.pending()).toEqual([]);
  });
});

describe('a cursor', () => {
  it('a cursor of another world, and one beyond the head, are refused, so that no events are missed unnoticed [SRV-34]', async () => {
    const { as } = await serve();
    const session = (await as('human:ann')).session('ann');
    await session.send({ id: 'm', text: 'Hello', agent: 'talker' });
    const told = await all(session.follow(0));
    const [first] = told;
    const cursor = first !== undefined && 'cursor' in first ? first.cursor : '';
    const [seq, record, world = ''] = cursor.split('.');
    const after = (text: string) => codeOf(all(session.follow(0, { after: text })));
    expect(await after(cursor)).toBe('answered');
    expect(await after(`${seq}.${record}.00000000`)).toBe('409 wrong_cursor');
    expect(await after(`999999.0.${world}`)).toBe('409 wrong_cursor');
    expect(await after('nonsense')).toBe('400 invalid_argument');
  });
});

describe('wrong requests', () => {
  it('a request without a token, with a wrong body or to no operation is refused in words, with a code', async () => {
    const { url, as, tokens } = await serve();
    await as('human:ann');
    const token = await tokens.issue('human:ann', { for: '1h' });
    const call = async (method: string, path: string, body?: string, bearer = token) => {
      const answer = await fetch(url.replace('/v1', path), {
        method,
        headers: { authorization: `Bearer ${bearer}` },
        ...(body === undefined ? {} : { body }),
      });
      const { code, detail, where } = (await answer.json()) as Record<'code' | 'detail' | 'where', string>;
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(detail.length).toBeGreaterThan(5);
      return [answer.status, code, where];
    };
    const inputs = '/v1/sessions/ann/inputs';
    expect(await call('GET', '/v1/sessions', undefined, 'x')).toEqual([401, 'token_needed', undefined]);
    expect(await call('GET', '/v1/nothing')).toEqual([404, 'not_found', undefined]);
    expect(await call('GET', '/v1/sessions/%')).toEqual([404, 'not_found', undefined]);
    expect(await call('PUT', inputs)).toEqual([405, 'wrong_method', undefined]);
    expect(await call('GET', inputs)).toEqual([405, 'wrong_method', undefined]);
    expect(await call('POST', inputs, '{')).toEqual([400, 'not_json', undefined]);
    expect(await call('POST', inputs, '{}')).toEqual([400, 'invalid_argument', 'id']);
    expect(await call('POST', inputs, '{"id":"m"}')).toEqual([400, 'invalid_argument', 'text']);
    expect(await call('POST', inputs, '{"id":"m","text":"x","more":1}')).toEqual([400, 'invalid_argument', 'the body']);
    expect(await call('POST', inputs, '{"id":"m","text":"x"}')).toEqual([400, 'unknown_agent', 'agent']);
    expect(await call('POST', inputs, '{"id":"m","text":"x","agent":"nobody"}')).toEqual([
      400,
      'unknown_agent',
      'agent',
    ]);
    const file = '{"id":"m","agent":"talker","parts":[{"base64":"!","media_type":"a/b"}]}';
    expect(await call('POST', inputs, file)).toEqual([400, 'invalid_argument', 'parts']);
    expect(await call('GET', '/v1/sessions/ann/events?tree=maybe')).toEqual([400, 'invalid_argument', 'tree']);
  });

  it('a client that asks with a wrong token tells so at once', async () => {
    const { url } = await serve();
    expect(await codeOf(connect(url, { token: 'x' }).pending())).toBe('401 token_needed');
  });
});
