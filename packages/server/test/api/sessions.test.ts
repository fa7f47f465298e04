/** Sessions over HTTP, as a client sees them. */

import type { Told } from '@reprise/client';
import { afterEach, describe, expect, it } from 'vitest';
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

async function all(told: AsyncIterable<Told>): Promise<Told[]> {
  const found: Told[] = [];
  for await (const one of told) found.push(one);
  return found;
}

describe('a message', () => {
  it('begins a session of its sender, and its run can be followed to the end', async () => {
    const { as } = await serve();
    const ann = await as('human:ann');
    const session = ann.session('ann/trip');
    const sent = await session.send({ id: 'm1', text: 'Hello', agent: 'talker' });
    expect(sent).toEqual({ session: 'ann/trip', id: 'm1', status: 'accepted', run: 0 });
    const told = await all(session.follow(0, { deltas: true }));
    const types = told.flatMap((one) => ('event' in one ? [one.event.type] : []));
    expect(types).toContain('llm_step.completed');
    expect(types.at(-1)).toBe('lifecycle');
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
  });
});
