/** What another principal learns and changes over AG-UI: nothing. */
import { describe, expect, it } from 'vitest';
import { AGENT_POLICY } from '../../../agent/src/index.js';
import { eventsOf, type RecordingAgent } from './support/client.js';
import { agUiWorld } from './support/world.js';

const told = ({ last }: RecordingAgent) => eventsOf(last.text);

describe('another principal', () => {
  it('a thread id of another person names a thread of one’s own, which does not exist [SRV-46]', async () => {
    await using served = await agUiWorld();
    const ann = await served.as('human:ann', 'trip');
    ann.say('m1', 'My secret word is plum.');
    await ann.runAgent();
    for (const thread of ['trip', 'ann/trip', 'ann']) {
      const bob = await served.as('human:bob', thread);
      await bob.runAgent();
      expect(told(bob).map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
      bob.say('m1', 'What is it?');
      await bob.runAgent();
      expect(bob.last.text).not.toContain('plum');
    }
    const { items } = await served.world.sessions();
    expect(items.map(({ key }) => key).toSorted()).toEqual(['ann/trip', 'bob/ann', 'bob/ann/trip', 'bob/trip']);
  });

  it('an interrupt id of another person is answered as one of nowhere, and decides nothing [SRV-46]', async () => {
    await using served = await agUiWorld();
    const ann = await served.as('human:ann', 'trip');
    ann.say('m1', 'pay 500');
    await ann.runAgent();
    const [item] = ann.pendingInterrupts;
    const bob = await served.as('human:bob', 'trip');
    const answer = async (interruptId: string) => {
      await bob.runAgent({ runId: 'r', resume: [{ interruptId, status: 'resolved', payload: { approved: true } }] });
      return bob.last.text;
    };
    expect(await answer(item?.id ?? '')).toBe(await answer('f'.repeat(64)));
    expect(told(bob).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'not_found' });
    bob.say('m1', 'Hello');
    await bob.runAgent();
    expect(await answer(item?.id ?? '')).toBe(await answer('f'.repeat(64)));
    expect([served.paid, (await served.world.pending()).length]).toEqual([[], 1]);
  });

  it('a server that maps threads to sessions itself still asks whose they are; a thread that it does not map is not there [SRV-46]', async () => {
    const sessionOf = ({ thread }: { readonly thread: string }) => (thread === 'none' ? undefined : thread);
    await using served = await agUiWorld({ http: { agUi: { sessionOf } } });
    const ann = await served.as('human:ann', 'ann/trip');
    ann.say('m1', 'Hello');
    await ann.runAgent();
    for (const thread of ['ann/trip', 'none', 'elsewhere']) {
      const bob = await served.as('human:bob', thread);
      bob.say('m2', 'Hello');
      await expect(bob.runAgent()).rejects.toThrow();
      expect(bob.last.status).toBe(404);
    }
    const { items } = await served.world.sessions();
    expect(items.map(({ key }) => key)).toEqual(['ann/trip']);
  });

  it('an approval that only another person may give is no interrupt of a client, whose run goes on when it is given [SRV-44]', async () => {
    const policy = [
      { effect: 'tool.call@1#pay', decision: 'require_approval' as const, to: 'human:boss' },
      ...AGENT_POLICY,
    ];
    const shared = { mayUse: () => true, sessionOf: ({ thread }: { readonly thread: string }) => thread };
    await using served = await agUiWorld({ policy, http: { agUi: shared } });
    const ann = await served.as('human:ann', 'shared');
    ann.say('m1', 'pay 5');
    const run = ann.runAgent();
    await expect.poll(async () => (await served.world.pending()).length).toBe(1);
    const boss = await served.as('human:boss', 'shared');
    await boss.runAgent();
    expect(boss.pendingInterrupts).toHaveLength(1);
    const [item] = boss.pendingInterrupts;
    const answer = { interruptId: item?.id ?? '', status: 'resolved' as const, payload: { approved: true } };
    const bob = await served.as('human:bob', 'shared');
    await expect(bob.runAgent({ resume: [answer] })).rejects.toThrow();
    expect([bob.last.status, served.paid]).toEqual([403, []]);
    await boss.runAgent({ resume: [answer] });
    await run;
    expect([ann.pendingInterrupts, served.paid]).toEqual([[], [5]]);
    expect(told(ann).at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  });
});
