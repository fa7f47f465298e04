/** Making room in a model's window, as an app asks for it and watches it. */
import { isRepriseError } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { type CompactionChoice, defineAgent } from '../../src/index.js';
import { all, play } from './scene.js';

const talker = defineAgent({ name: 'talker', model: 'main', instructions: 'Talk.', compaction: { keep: 1 } });

describe('a session that is asked to make room', () => {
  it('a compacted session reports the window of the model from then on, and never returns the summary as an answer', async () => {
    const steps = [{ text: '1' }, { text: '2' }, { says: ['the', 'summary'], text: 'the summary' }, { text: '3' }];
    await play({ agents: [talker], steps }, async ({ world }) => {
      const session = world.session('me', talker);
      for (const words of ['a', 'b']) await (await session.send(words)).text();
      expect(await session.compact({ id: 'c' })).toEqual({ command_id: 'c', status: 'accepted' });
      const run = await session.send('c');
      const heard = await all(run.stream());
      expect(heard.filter(({ type }) => type === 'delta')).toEqual([]);
      expect(heard.find(({ type }) => type === 'context.compacted')).toMatchObject({
        cause: 'command',
        from: 0,
        to: 2,
        text: 'the summary',
      });
      expect(await run.text()).toBe('3');
      expect(await session.state()).toMatchObject({ items: 6, window: { from: 2 } });
    });
  });

  it('the model’s channel shows that a compaction happened, and the operator’s channel its usage', async () => {
    const steps = [{ text: '1' }, { text: '2' }, { text: 's' }, { text: '3' }];
    await play({ agents: [talker], steps }, async ({ world }) => {
      const session = world.session('me', talker);
      for (const words of ['a', 'b']) await (await session.send(words)).text();
      await session.compact();
      const run = await session.send('c');
      await run.text();
      const types = async (channel: 'model' | 'operator') =>
        (await all(run.events({ channel }))).map(({ type }) => type).filter((type) => type.includes('compact'));
      expect(await types('model')).toEqual(['context.compacted']);
      expect(await types('operator')).toEqual(['compaction.started', 'context.compacted']);
    });
  });

  it('a compaction before any input is dropped with nothing_to_compact', async () => {
    await play({ agents: [talker], steps: [] }, async ({ world }) => {
      expect(await world.session('me', talker).compact()).toMatchObject({ status: 'rejected', code: 'session_absent' });
    });
  });
});

describe('an agent that says how room is made', () => {
  it.each<[field: string, choice: unknown]>([
    ['at', { at: 50 }],
    ['keep', { keep: 0 }],
    ['keep', { keep: 17 }],
    ['model', { model: '' }],
    ['ask', { ask: ' ' }],
    ['by', { by: 'magic' }],
  ])('a compaction choice with a wrong %s is refused, and the error names the field', (field, choice) => {
    const define = () =>
      defineAgent({ name: 'x', model: 'main', instructions: '', compaction: choice as CompactionChoice });
    let error: unknown;
    try {
      define();
    } catch (caught) {
      error = caught;
    }
    expect(isRepriseError(error, 'invalid_definition')).toBe(true);
    expect(error).toMatchObject({ details: { where: `agent x compaction.${field}` } });
  });

  it('a compaction model that the world does not have is refused before anything is stored', async () => {
    const lost = defineAgent({ name: 'lost', model: 'main', instructions: '', compaction: { model: 'nowhere' } });
    await play({ agents: [lost], steps: [] }, async ({ world }) => {
      await expect(world.session('me', lost).send('Hi')).rejects.toSatisfy((error) =>
        isRepriseError(error, 'unknown_model'),
      );
      expect(await world.session('me', lost).state()).toBeUndefined();
    });
  });
});
