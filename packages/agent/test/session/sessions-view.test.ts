/** The list of sessions, as a view over their world. */
import { openViews } from '@reprise/kernel/views';
import { expect, it } from 'vitest';
import { sessions } from '../../src/index.js';
import { play } from './scene.js';

it('sessions: what each is doing, for which agent, and which have ended, with what', async () => {
  const steps = [{ text: 'Done.' }, { outcome: { status: 'error', code: 'provider_error_terminal/script' } as const }];
  await play({ steps }, async ({ world, session }) => {
    await using views = await openViews(world.kernel, [sessions]);
    const [view, id] = [views.view(sessions), session.address[1]];
    await (await session.send('Go')).result();
    await views.caughtUp();
    expect(await view.get(id)).toMatchObject({ status: 'Completed', run: 0, inputs: 1, code: null });
    expect((await view.get(id))?.output_ref).not.toBeNull();
    await (await session.send('Again')).result();
    await views.caughtUp();
    const row = await view.get(id);
    expect(row).toMatchObject({ status: 'Failed', run: 1, inputs: 2, code: 'provider_error_terminal/script' });
    const keys = async (index: string, under?: string) =>
      (await view.query({ index, ...(under === undefined ? {} : { under }) })).rows.map(({ key }) => key);
    expect(await keys('status', 'Failed')).toEqual([id]);
    expect(await keys('status', 'Completed')).toEqual([]);
    expect(await keys('agent', row?.agent)).toEqual([id]);
    expect(await keys('ended')).toEqual([id]);
    expect((await views.verify()).differences).toEqual([]);
  });
});
