import { isRepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { creates, defineReducer } from '../../../src/index.js';
import { recordingContext, reduce } from '../../../src/pure/reduce/index.js';

const Nothing = z.strictObject({});
const lamp = defineReducer({
  name: 'test/Lamp@1',
  state: z.strictObject({ on: z.boolean(), ids: z.array(z.string()), draws: z.array(z.number()) }),
  events: {
    'test/Made@1': creates(Nothing),
    'test/Switched@1': Nothing,
    'test/Broken@1': Nothing,
    'test/Kept@1': Nothing,
  },
  tables: { uses: z.int() },
  init: () => ({ on: false, ids: [], draws: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'test/Broken@1') ctx.reject('broken');
    if (event.name === 'test/Kept@1') ctx.table('uses');
    if (event.name !== 'test/Switched@1') return;
    draft.on = !draft.on;
    draft.ids = [ctx.id('a'), ctx.id('b')];
    draft.draws = [ctx.random(), ctx.random()];
    ctx.timer('off', ctx.now + 5);
    ctx.send(['test/Lamp@1', 'other'], { name: 'test/Switched@1', value: {} });
  },
});
const event = (name: string) => ({ name, value: {} });

describe('a recording context', () => {
  it('a recording context answers with fixed values and records what the reducer requested', () => {
    const ctx = recordingContext({ now: 10, random: [0.5] });
    const { state } = reduce(lamp, undefined, event('test/Switched@1'), ctx);
    const [a, b] = ['1', '2'].map((n) => n.padStart(32, '0'));
    expect(state).toEqual({ on: true, ids: [a, b], draws: [0.5, 0] });
    expect(ctx.calls.map(([method]) => method)).toEqual(['id', 'id', 'random', 'random', 'timer', 'send']);
    expect(ctx.calls.slice(4)).toEqual([
      ['timer', 'off', 15],
      ['send', ['test/Lamp@1', 'other'], { name: 'test/Switched@1', value: {} }],
    ]);
  });

  it('a recording context makes reduce() throw request_rejected for an event that the reducer rejects', () => {
    const caught = thrownBy(() => reduce(lamp, undefined, event('test/Broken@1'), recordingContext()));
    expect(isRepriseError(caught, 'request_rejected') && caught.details.reason).toBe('broken');
  });

  it('a recording context refuses tables and names givenReducer', () => {
    const caught = thrownBy(() => reduce(lamp, undefined, event('test/Kept@1'), recordingContext()));
    expect(String((caught as Error).message)).toContain('givenReducer');
  });
});

function thrownBy(body: () => unknown): unknown {
  try {
    body();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
