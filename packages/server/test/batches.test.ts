/** Messages that come together: each is a message, however many are in a body. */
import { describe, expect, it } from 'vitest';
import { begin, callOf, overHttp, post } from './support/stage.js';

const args = { notebook: 'ann', text: 'x' };

async function session(stage: Awaited<ReturnType<typeof overHttp>>) {
  const token = await stage.tokenOf('human:ann');
  const opened = await post(stage.url, token, begin);
  await opened.text();
  const headers = {
    'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-03-26',
  };
  return { token, send: (body: unknown): Promise<Response> => post(stage.url, token, body, headers) };
}

const batch = (length: number, from = 0) => Array.from({ length }, (_, i) => callOf(from + i, args));

describe('a batch', () => {
  it('a batch counts as many messages as it has, in a while and at once [SRV-16]', async () => {
    let [calls, running, most] = [0, 0, 0];
    await using stage = await overHttp({
      onCall: async () => {
        calls++;
        most = Math.max(most, ++running);
        for (let looks = 0; looks < 500 && most < 30; looks++) await new Promise((resolve) => setTimeout(resolve, 10));
        running--;
      },
      http: { limits: { open: 30, perSecond: 1, burst: 62 } },
    });
    const { send } = await session(stage); // 1 of 62
    const statuses = [];
    for (const length of [30, 31, 30]) {
      const answer = await send(batch(length, 100 * statuses.length));
      await answer.text();
      statuses.push([answer.status, answer.headers.get('retry-after') !== null]);
    }
    // the second has more than may be open, and took its messages; the third comes too soon, by half a minute
    expect(statuses).toEqual([
      [200, false],
      [429, true],
      [429, true],
    ]);
    expect([calls, most]).toEqual([30, 30]);
  });

  it('a batch has a bounded number of messages', async () => {
    await using stage = await overHttp({ http: { limits: { batch: 3 } } });
    const { send } = await session(stage);
    expect((await send(batch(3))).status).toBe(200);
    expect((await send(batch(4, 10))).status).toBe(413);
    expect((await send([])).status).toBe(400);
  });

  it('a batch cancels what it names, and its own requests can be cancelled [SRV-17]', async () => {
    let running = 0;
    await using stage = await overHttp({
      onCall: () => {
        running++;
      },
      onReturn: () => {
        running--;
      },
    });
    const { send } = await session(stage);
    const cancel = (requestId: unknown) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId },
    });
    const waiting = [
      send([callOf('w1', {}, 'note_wait'), callOf('w2', {}, 'note_wait')]),
      send(callOf('w3', {}, 'note_wait')),
    ];
    await expect.poll(() => running).toBe(3);
    await (await send([cancel('w3'), cancel('none')])).text();
    await expect.poll(() => running).toBe(2);
    await (await send([cancel('w1')])).text();
    await expect.poll(() => running).toBe(1);
    await (await send(cancel('w2'))).text();
    await expect.poll(() => running).toBe(0);
    await Promise.all(waiting.map(async (one) => (await one).text()));
  });
});
