/** A run that did not complete is answered anew: by its handle, by its session, and by the same input sent again. */
import { defineAgent, defineTool } from '@reprise/agent';
import { scriptBy } from 'reprise/providers';
import { testWorld } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

/** A session whose model fails so many times; what the model was shown is kept. */
async function failing(times: number, more: object = {}) {
  const asked: string[][] = [];
  const model = scriptBy(({ messages }) => {
    asked.push(messages.map(({ role, text }) => `${role}: ${text}`));
    return asked.length <= times ? { fail: 'provider_error_terminal/auth' } : { text: `Answer ${asked.length}.` };
  });
  const agent = defineAgent({ name: 'a', model: 'm', instructions: '', ...more });
  const world = await testWorld({ models: { m: model }, agents: [agent] });
  return { asked, world, session: world.session('nightly', agent) };
}

const refused = (reason: string) =>
  expect.objectContaining({ code: 'request_rejected', details: expect.objectContaining({ reason }) });

describe('a run that is retried', () => {
  it('a failed run is answered anew by run.retry(): the model reads the input once, and the world verifies [SES-31]', async () => {
    const { asked, world, session } = await failing(1);
    await using _ = world;
    const first = await session.send('Report.', { id: 'report' });
    expect((await first.result()).stop).toMatchObject({ kind: 'Failed', code: 'provider_error_terminal/auth' });
    const second = await first.retry();
    expect([first.id, second.id]).toEqual(['nightly/r0', 'nightly/r1']);
    expect(await second.text()).toBe('Answer 2.');
    expect(asked.map((messages) => messages.filter((one) => one.includes('Report.')).length)).toEqual([1, 1]);
    expect((await world.verify()).unverified).toBe(0);
  });

  it('the same input sent again returns the newest run, so a job with a stable id does not return its stored failure for ever [SES-32]', async () => {
    const { world, session } = await failing(2);
    await using _ = world;
    const send = () => session.send('Report.', { id: 'report' });
    expect((await (await send()).result()).stop.kind).toBe('Failed');
    expect((await (await session.retry()).result()).stop.kind).toBe('Failed');
    expect((await send()).id).toBe('nightly/r1');
    await (await send()).retry();
    await session.send('Something else.');
    const again = await send();
    expect(again.id).toBe('nightly/r2');
    expect(await again.text()).toBe('Answer 3.');
  });

  it('a retry with an id takes place once, and inputs that waited behind the failed run go on behind it [SES-31]', async () => {
    const { asked, world, session } = await failing(1);
    await using _ = world;
    const first = await session.send('One.');
    const waiting = await session.send('Two.');
    await first.result();
    const runs = [await session.retry({ id: 'again' }), await session.retry({ id: 'again' })];
    expect(runs.map(({ number }) => number)).toEqual([2, 2]);
    expect(await runs[0]?.text()).toBe('Answer 2.');
    expect(await waiting.text()).toBe('Answer 3.');
    expect(asked).toHaveLength(3);
  });

  it('a run that is retried with an id returns the same run when the retry is repeated, also when that one failed [SES-31]', async () => {
    const { world, session } = await failing(2);
    await using _ = world;
    const first = await session.send('Report.', { id: 'report' });
    await first.result();
    const retry = async () => (await first.retry({ id: 'again' })).id;
    expect(await retry()).toBe('nightly/r1');
    expect(await retry()).toBe('nightly/r1');
    await (await session.run(1))?.result();
    expect(await retry()).toBe('nightly/r1');
    expect((await first.retry({ id: 'once more' })).id).toBe('nightly/r2');
    expect(await retry()).toBe('nightly/r1');
  });

  it('a run that completed, one under way, and one that is not the last are not retried [SES-33]', async () => {
    const { world, session } = await failing(1);
    await using _ = world;
    await expect(session.retry()).rejects.toEqual(refused('session_absent'));
    const failed = await session.send('One.');
    await failed.result();
    const retried = await failed.retry();
    await expect(session.retry()).rejects.toEqual(refused('nothing_to_retry'));
    await retried.result();
    await expect(retried.retry()).rejects.toEqual(refused('nothing_to_retry'));
    const other = await session.run(0);
    await expect(other?.retry()).rejects.toEqual(refused('nothing_to_retry'));
    await session.close();
    await expect(session.retry()).rejects.toEqual(refused('session_closed'));
  });

  it('a cancelled run is answered anew, and knows how its call ended [SES-31]', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      args: z.strictObject({}),
      approval: 'always',
      run: () => 'Paid.',
    });
    const model = scriptBy(({ messages }) =>
      messages.length === 1 ? { calls: [{ tool: 'pay', args: {} }] } : { text: `${messages.length}` },
    );
    const agent = defineAgent({ name: 'a', model: 'm', instructions: '', tools: [pay] });
    await using world = await testWorld({ models: { m: model }, agents: [agent] });
    const run = await world.session('s', agent).send('Pay.');
    expect((await run.endedOrWaiting()).status).toBe('waiting');
    await run.cancel();
    expect((await run.result()).stop.kind).toBe('Cancelled');
    expect(await (await run.retry()).text()).toBe('3');
  });

  it('a session that another one leads is retried there, and not by itself [SES-34]', async () => {
    const { world, session } = await failing(2);
    await using _ = world;
    const child = await session.spawn(defineAgent({ name: 'b', model: 'm', instructions: '' }), 'Look.');
    expect((await child.result()).stop.kind).toBe('Failed');
    await expect(child.retry()).rejects.toEqual(refused('has_owner'));
  });
});
