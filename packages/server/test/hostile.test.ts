/** One hostile client with a token, one without, and honest clients beside them. */

import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { honestBesideHostile } from './support/hostile.js';
import { requestText, statusOf, type Wire, wire } from './support/sockets.js';
import { bareCall, bareRequest, begin, overHttp, post } from './support/stage.js';

const ROUND_MS = 2_500;

/**
 * The least number of requests that each honest client makes in a round, however slow the machine is. They are made one
 * after the other beside hostile ones, so a client that makes them all, and fails at none, is not locked out.
 */
const REQUESTS_MIN = 15;

const SEED = 7;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('honest clients beside hostile ones', () => {
  it(`honest clients are answered while one token and one client without a token take all that they can (seed ${SEED}) [SRV-14]`, async () => {
    const { alone, beside, hostile } = await honestBesideHostile(ROUND_MS, REQUESTS_MIN, SEED);
    expect(alone.failed).toEqual([]);
    expect(beside.failed).toEqual([]);
    expect(beside.answered).toBeGreaterThanOrEqual(2 * REQUESTS_MIN);
    expect(hostile).toBeGreaterThan(3 * beside.answered);
  });

  it('connections that send nothing make room for a client that does [SRV-14]', async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    const idle = Array.from({ length: 300 }, () => connect(Number(new URL(stage.url).port), '127.0.0.1'));
    for (const socket of idle) socket.on('error', () => undefined);
    await pause(300);
    const answer = wire(stage.url, requestText(stage.url, token, 'POST', {}, JSON.stringify(begin)));
    await expect.poll(() => statusOf(answer)).toBe(200);
    for (const socket of [...idle, answer.socket]) socket.destroy();
  });

  it('a connection that sends nothing is closed soon after its time, not when Node looks next [SRV-14]', async () => {
    await using stage = await overHttp({ http: { limits: { headersMs: 300 } } });
    const started = Date.now();
    const idle = [wire(stage.url), wire(stage.url, 'POST /mcp HTTP/1.1\r\nhost: x\r\n')];
    await expect.poll(() => idle.every(({ isClosed }) => isClosed)).toBe(true);
    expect(Date.now() - started).toBeLessThan(28_000); // Node looks every 30 seconds
  });

  it('a principal has a bounded number of connections and streams; another one has its own [SRV-14]', async () => {
    await using stage = await overHttp({ http: { limits: { connectionsEach: 6, streams: 3 } } });
    const [ann, bob] = [await stage.tokenOf('human:ann'), await stage.tokenOf('human:bob')];
    const [body, headers] = bareRequest(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    const listen = (token: string): Wire =>
      wire(stage.url, requestText(stage.url, token, 'POST', headers, JSON.stringify(body)));
    const statuses = async (all: readonly Wire[]): Promise<readonly (number | undefined)[]> => {
      await expect.poll(() => all.every((one) => statusOf(one) !== undefined)).toBe(true);
      return all.map(statusOf).sort();
    };
    const streams = Array.from({ length: 5 }, () => listen(ann));
    expect(await statuses(streams)).toEqual([200, 200, 200, 429, 429]);
    await expect.poll(() => streams.filter(({ isClosed }) => isClosed).length).toBe(2);
    const [waiting, more] = bareCall(2, {}, 'note_wait');
    const waits = Array.from({ length: 5 }, () =>
      wire(stage.url, requestText(stage.url, ann, 'POST', more, JSON.stringify(waiting))),
    );
    await expect.poll(() => waits.filter((one) => statusOf(one) === 429).length).toBe(2);
    const others = [listen(bob)];
    expect(await statuses(others)).toEqual([200]);
    for (const { socket } of [...streams, ...waits, ...others]) socket.destroy();
  });

  it('sessions of one principal end no session of another [SRV-14]', async () => {
    await using stage = await overHttp({ http: { limits: { sessions: 6, sessionsEach: 4 } } });
    const [ann, bob, eve] = await Promise.all(['ann', 'bob', 'eve'].map((name) => stage.tokenOf(`human:${name}`)));
    const open = async (token = ''): Promise<string> => {
      const opened = await post(stage.url, token, begin);
      await opened.text();
      return opened.headers.get('mcp-session-id') ?? '';
    };
    const ping = async (token = '', id = ''): Promise<number> =>
      (await post(stage.url, token, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': id })).status;
    const ofAnn = [await open(ann), await open(ann)];
    const ofEve: string[] = [];
    for (let i = 0; i < 20; i++) ofEve.push(await open(eve));
    const ofBob = await open(bob); // all are taken: eve, who has the most, gives way
    expect(await Promise.all(ofAnn.map((id) => ping(ann, id)))).toEqual([200, 200]);
    expect(await ping(bob, ofBob)).toBe(200);
    expect(await Promise.all(ofEve.slice(-4).map((id) => ping(eve, id)))).toEqual([404, 200, 200, 200]);
  });
});
