/** Tokens that end or are taken back: what is still open under them ends, and no other revocation revives them. */
import { memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { bearerTokens } from '../src/index.js';
import { requestText, statusOf, type Wire, wire } from './support/sockets.js';
import { bareCall, bareRequest, begin, openNotes, overHttp, post } from './support/stage.js';

type Stage = Awaited<ReturnType<typeof overHttp>>;

/** Longer than any test takes. */
const NEVER_MS = 3_600_000;

/** A stream of each kind under a token, which follows the notebook of ann. */
async function streamsOf(stage: Stage, token: string): Promise<readonly Wire[]> {
  const opened = await post(stage.url, token, begin);
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const follow = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'notes://ann' } };
  await (await post(stage.url, token, follow, session)).text();
  const [body, headers] = bareRequest(2, 'subscriptions/listen', {
    notifications: { resourceSubscriptions: ['notes://ann'] },
  });
  const streams = [
    wire(stage.url, requestText(stage.url, token, 'GET', session)),
    wire(stage.url, requestText(stage.url, token, 'POST', headers, JSON.stringify(body))),
  ];
  await expect.poll(() => streams.map(statusOf)).toEqual([200, 200]);
  return streams;
}

const told = ({ heard }: Wire): number => heard.split('notifications/resources/updated').length - 1;
const ended = ({ heard, isClosed }: Wire): boolean => isClosed || heard.endsWith('0\r\n\r\n');

/** Writes a note, by another principal. */
async function note(stage: Stage, writer: string): Promise<void> {
  await (await post(stage.url, writer, ...bareCall(1, { notebook: 'ann', text: 'x' }))).text();
}

describe('the streams of a token', () => {
  const ends: readonly (readonly [string, (stage: Stage, token: string) => Promise<void> | void])[] = [
    ['is taken back', (stage, token) => stage.tokens.revoke(token)],
    ['is taken back with all of its principal', (stage) => stage.tokens.revokeAll('human:ann')],
  ];
  it.each(ends)(
    'the streams of a token end as soon as it %s, and those of others go on [SRV-18]',
    async (_how, end) => {
      await using stage = await overHttp({ http: { limits: { streamCheckMs: NEVER_MS } } }); // no check by time
      const [ann, bob] = [await stage.tokenOf('human:ann'), await stage.tokenOf('human:bob')];
      const [mine, others] = [await streamsOf(stage, ann), await streamsOf(stage, bob)];
      await note(stage, bob);
      await expect.poll(() => [...mine, ...others].map((one) => told(one) > 0)).toEqual([true, true, true, true]);
      await end(stage, ann);
      const heard = mine.map(told);
      await expect.poll(() => mine.every(ended)).toBe(true);
      await note(stage, bob);
      await expect.poll(() => others.every((one) => told(one) > 1)).toBe(true);
      expect([mine.map(told), others.some(ended)]).toEqual([heard, false]);
      for (const { socket } of [...mine, ...others]) socket.destroy();
    },
  );

  it('the streams of a token end with it, although nothing is told meanwhile [SRV-18]', async () => {
    const clock = new VirtualClock();
    await using stage = await overHttp({ world: await openNotes({ clock }), http: { limits: { streamCheckMs: 50 } } });
    const token = await stage.tokens.issue('human:ann', { for: 700 });
    const streams = await streamsOf(stage, token);
    await clock.advance(700);
    await expect.poll(() => streams.every(ended)).toBe(true);
  });

  it('the streams of a token are told nothing once it has ended, also before the next check by time [SRV-18]', async () => {
    const clock = new VirtualClock();
    await using stage = await overHttp({
      world: await openNotes({ clock }),
      http: { limits: { streamCheckMs: NEVER_MS } },
    });
    const bob = await stage.tokenOf('human:bob');
    const streams = await streamsOf(stage, await stage.tokens.issue('human:ann', { for: 700 }));
    await clock.advance(800);
    await note(stage, bob);
    await expect.poll(() => streams.every(ended)).toBe(true);
    expect(streams.map(told)).toEqual([0, 0]);
  });

  it('streams end when a part lets their principal act no longer [SRV-18]', async () => {
    let mayAct = true;
    await using stage = await overHttp({ admits: () => mayAct, http: { limits: { streamCheckMs: 50 } } });
    const streams = await streamsOf(stage, await stage.tokenOf('human:ann'));
    mayAct = false;
    await expect.poll(() => streams.every(ended)).toBe(true);
  });

  it('streams end when their principal cannot be found any longer, and the app is told why [SRV-18]', async () => {
    let isDown = false;
    const auth = async (): Promise<'human:ann'> => {
      if (isDown) throw new Error('the directory is down');
      return 'human:ann';
    };
    await using stage = await overHttp({ http: { auth, limits: { streamCheckMs: 50 } } });
    const streams = await streamsOf(stage, 'any');
    isDown = true;
    await expect.poll(() => streams.every(ended)).toBe(true);
    expect(stage.errors.join()).toContain('the directory is down');
  });
});

describe('the list of tokens that were taken back', () => {
  const request = (token: string) => ({
    method: 'POST',
    url: '/mcp',
    header: (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined),
  });

  it('a token that was taken back stays refused through later revocations, and its entry goes after its end [SRV-21]', async () => {
    const clock = new VirtualClock();
    await using world = await openNotes({ clock });
    const tokens = bearerTokens(world, { secret: 'mcp_tokens' });
    const lasts = [60_000, 10_000, 60_000, 20_000, 60_000];
    const issued = await Promise.all(lasts.map((ms) => tokens.issue('human:ann', { for: ms })));
    const refused = async () => Promise.all(issued.map(async (one) => (await tokens.auth(request(one))) === undefined));
    for (const [i, token] of issued.entries()) {
      await tokens.revoke(token);
      expect(await refused()).toEqual(issued.map((_, k) => k <= i));
    }
    await clock.advance(30_000);
    await tokens.revoke(await tokens.issue('human:ann', { for: 60_000 }));
    expect(await refused()).toEqual([true, true, true, true, true]);
    const { kernel } = world;
    for await (const frame of kernel.frames(0)) {
      const list = frame.records.flatMap((one) =>
        one.kind === 'request' && one.to[0] === 'server/Tokens@1' ? [one.to] : [],
      );
      const [address] = list;
      if (address !== undefined) {
        const rows = await kernel.table(address, 'revoked', {});
        expect(rows).toHaveLength(4); // three that have not ended, and the new one
        expect(await kernel.table(address, 'ending', {})).toHaveLength(4);
        break;
      }
    }
  });

  it('more than a thousand tokens of one principal are taken back, one by one [SRV-21]', async () => {
    await using world = await openNotes();
    const tokens = bearerTokens(world, { secret: 'mcp_tokens' });
    let last = '';
    for (let i = 0; i < 1_001; i++) {
      last = await tokens.issue('human:ann', { for: '1h' });
      await tokens.revoke(last);
    }
    expect(await tokens.auth(request(last))).toBeUndefined();
  });

  it('a revocation of all tokens includes those of its own millisecond, and none that is issued after it [SRV-3]', async () => {
    await using world = await openNotes({ clock: new VirtualClock() }); // time stands still
    const tokens = bearerTokens(world, { secret: 'mcp_tokens' });
    const before = await tokens.issue('human:ann', { for: '1h' });
    await tokens.revokeAll('human:ann');
    const after = await tokens.issue('human:ann', { for: '1h' });
    expect(await tokens.auth(request(before))).toBeUndefined();
    expect(await tokens.auth(request(after))).toBe('human:ann');
    await tokens.revokeAll('human:ann');
    expect(await tokens.auth(request(after))).toBeUndefined();
  });

  it('a token that was taken back stays refused when the world is opened again [SRV-3]', async () => {
    const store = memory();
    const first = await openNotes({ store });
    const tokens = bearerTokens(first, { secret: 'mcp_tokens' });
    const [one, two] = [await tokens.issue('human:ann', { for: '1h' }), await tokens.issue('human:ann', { for: '1h' })];
    await tokens.revoke(one);
    await first.close();
    await using again = await openNotes({ store });
    const later = bearerTokens(again, { secret: 'mcp_tokens' });
    expect([await later.auth(request(one)), await later.auth(request(two))]).toEqual([undefined, 'human:ann']);
  });
});
