/** Clients whose connections break at any byte, and whose server is another process of the same world for a while. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AgentEvent, defineAgent } from '@reprise/agent';
import { connect, type SessionsClient, type StreamItem } from '@reprise/client';
import { sqlite } from '@reprise/store-sqlite';
import { expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { randomFrom } from '../../../../conformance/random.js';
import { CuttingProxy } from './cutting-proxy.js';
import { servedSessions } from './world.js';

const SEED = Number(process.env.REPRISE_SEED ?? 43);
const CUTS = Math.ceil(1_000 / stepOf(25));

/** What a client knows of all that it was told. */
class Known {
  readonly cursors: string[] = [];
  readonly pieces = new Map<string, string>();
  readonly answers: string[] = [];

  take(told: StreamItem): void {
    if ('cursor' in told) {
      this.cursors.push(told.cursor);
      if (told.event.type === 'llm_step.completed') this.answers.push(told.event.text ?? '');
      return;
    }
    const { piece } = told;
    const before = piece.type === 'delta.reset' || piece.restart === true ? '' : (this.pieces.get(piece.step_id) ?? '');
    this.pieces.set(piece.step_id, before + ('text' in piece ? piece.text : ''));
  }
}

async function cursorsOf(events: AsyncIterable<AgentEvent>, worldId: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { event_seq } of events) found.push(`${event_seq}.${worldId.slice(0, 8)}`);
  return found;
}

it(`a client that is cut at ${CUTS} random bytes is told each event once, in order (seed ${SEED}; again: REPRISE_SEED=${SEED} npx vitest run packages/server/test/api/cuts.test.ts) [SRV-35]`, async () => {
  const random = randomFrom(SEED);
  const proxy = await CuttingProxy.open();
  const origins = [`http://127.0.0.1:${proxy.port}`];
  await using served = await servedSessions({ http: { origins, limits: { perSecond: 100_000, burst: 100_000 } } });
  proxy.to = Number(new URL(served.url).port);
  const token = await served.tokens.issue('human:ann', { for: '1h' });
  const direct = await served.as('human:ann');
  const client: SessionsClient = connect(origins[0] ?? '', { token });
  const session = direct.session('ann');
  let sent = 0;
  const say = () => session.send({ id: `m${sent++}`, text: `message ${sent}`, agent: 'talker' });
  for (let i = 0; i < 10; i++) await say();
  const known = new Known();
  const left = new AbortController();
  // One in ten within the headers of the answer, after which a client waits longer each time; the others in the events.
  const anywhere = () => (random() < 0.1 ? 1 + Math.floor(random() * 400) : 400 + Math.floor(random() * 2_500));
  proxy.bytes = () => (proxy.cuts < CUTS ? anywhere() : undefined);
  const following = (async () => {
    for await (const told of client.session('ann').events({ signal: left.signal })) known.take(told);
  })();
  // The longer it goes on, the more there is to be told: a cut before the first new event has to be followed by others.
  for (let cuts = -1; proxy.cuts < CUTS; ) {
    if (proxy.cuts > cuts) await say();
    cuts = proxy.cuts;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await expect.poll(() => served.world.kernel.unfinished).toBe(false);
  const talker =
    served.world.agents.find(({ name }) => name === 'talker') ??
    defineAgent({ name: 'x', model: 'main', instructions: '' });
  const all = await cursorsOf(
    served.world.session('ann', talker).events({ channel: 'model', follow: false }),
    served.world.kernel.id,
  );
  await expect.poll(() => known.cursors.length).toBe(all.length);
  expect(known.cursors.join('\n')).toBe(all.join('\n'));
  left.abort();
  await following;
  proxy.close();
});

it('pieces of an answer come again from its beginning after a cut, and the first says so, so that they make its text [SRV-36]', async () => {
  const proxy = await CuttingProxy.open();
  const origins = [`http://127.0.0.1:${proxy.port}`];
  const long = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');
  await using served = await servedSessions({ http: { origins }, answers: () => ({ text: long, delayMs: 1_500 }) });
  proxy.to = Number(new URL(served.url).port);
  const token = await served.tokens.issue('human:ann', { for: '1h' });
  await (await served.as('human:ann')).session('ann').send({ id: 'm', text: 'Speak', agent: 'talker' });
  const known = new Known();
  let restarts = 0;
  for await (const told of connect(origins[0] ?? '', { token })
    .session('ann')
    .follow(0, { deltas: true })) {
    known.take(told);
    if (!('piece' in told)) continue;
    if (told.piece.type === 'delta' && told.piece.restart === true) restarts += 1;
    if (restarts < 2) proxy.cut(); // while the answer is under way
  }
  expect(restarts).toBeGreaterThanOrEqual(2);
  expect(known.answers).toEqual([long]);
  expect([...known.pieces.values()]).toEqual([long]);
  proxy.close();
});

it('an approval outlives the server that asked: the client goes on at the next one, and the call is executed once [SRV-35]', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-sessions-'));
  const proxy = await CuttingProxy.open();
  const origins = [`http://127.0.0.1:${proxy.port}`];
  const open = () => servedSessions({ store: sqlite(path.join(folder, 'world.db')), http: { origins } });
  let served = await open();
  proxy.to = Number(new URL(served.url).port);
  // A token is of the world, not of the server that made it.
  const token = await served.tokens.issue('human:ann', { for: '1h' });
  const client = connect(origins[0] ?? '', { token, tries: 20 });
  const session = client.session('ann');
  await session.send({ id: 'm', text: 'order tea', agent: 'clerk' });
  const known: string[] = [];
  const following = (async () => {
    for await (const told of session.follow(0)) if ('event' in told) known.push(`${told.cursor} ${told.event.type}`);
  })();
  await expect.poll(async () => (await client.pending()).length).toBe(1);
  const [item] = await client.pending();
  const first = served.orders;
  await served[Symbol.asyncDispose]();
  served = await open();
  proxy.to = Number(new URL(served.url).port);
  expect(await client.decide(item ?? '', { approve: true })).toEqual({ status: 'applied' });
  await following;
  expect([...first.done, ...served.orders.done]).toEqual(['tea']);
  expect(known.map((line) => line.split(' ')[1])).toContain('human.resolved');
  expect(new Set(known).size).toBe(known.length);
  await served[Symbol.asyncDispose]();
  proxy.close();
  rmSync(folder, { recursive: true, force: true });
});
