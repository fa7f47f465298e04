/** Law: whenever clients leave, they take nothing with them. */
import { describe, expect, it } from 'vitest';
import { leaveOften, NOTHING_TAKEN } from './support/aborts.js';
import { requestText, wire } from './support/sockets.js';
import { bareCall, begin, overHttp, post } from './support/stage.js';

const TIMES = 240;
const SEED = 36;

/** Longer than any test may take. */
const NEVER_MS = 3_600_000;

describe('clients that leave', () => {
  it(`every place is free after ${TIMES} requests that were broken off at random moments (seed ${SEED}) [SRV-13]`, async () => {
    const { calls, ...left } = await leaveOften(TIMES, SEED);
    expect(left).toEqual(NOTHING_TAKEN);
    expect(calls).toBeGreaterThan(0);
  });

  it('a principal goes on whose clients left while its token was checked [SRV-13]', async () => {
    const auth = async (): Promise<'human:ann'> => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return 'human:ann';
    };
    await using stage = await overHttp({ http: { auth, limits: { open: 4, drainMs: NEVER_MS } } });
    const left = Array.from({ length: 10 }, () =>
      wire(stage.url, requestText(stage.url, 'x', 'POST', {}, JSON.stringify(begin))),
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
    for (const { socket } of left) socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const status = async () => {
      const answer = await post(stage.url, 'x', ...bareCall(1, { notebook: 'ann', text: 'x' }));
      await answer.text();
      return answer.status;
    };
    await expect.poll(status).toBe(200);
    await stage.serving.close(); // it waits for nobody who has left: if it did, it would never end
  });

  it('requests that wait on one connection behind an answer are over with their connection [SRV-13]', async () => {
    await using stage = await overHttp({ http: { limits: { open: 4 } } });
    const token = await stage.tokenOf('human:ann');
    const [body, headers] = bareCall(1, {}, 'note_wait');
    const text = requestText(stage.url, token, 'POST', headers, JSON.stringify(body));
    const status = async () => (await post(stage.url, token, ...bareCall(9, { notebook: 'ann', text: 'x' }))).status;
    const { socket } = wire(stage.url, text.repeat(4));
    await expect.poll(status).toBe(429);
    socket.destroy();
    await expect.poll(status).toBe(200);
  });

  it('a connection with too many unanswered requests is closed', async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    const [body, headers] = bareCall(1, {}, 'note_wait');
    const one = wire(stage.url, requestText(stage.url, token, 'POST', headers, JSON.stringify(body)).repeat(40));
    await expect.poll(() => one.isClosed).toBe(true);
  });
});
