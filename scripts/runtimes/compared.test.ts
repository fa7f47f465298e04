import { describe, expect, it } from 'vitest';
import { compared, type Heads, pinnedHeads } from './compared.js';

const ZONE = 'Pacific/Apia';
const pinned = pinnedHeads();
const right: Heads = { zone: ZONE, ...pinned };

describe('a runtime beside what is pinned', () => {
  it('that came to the same is equal in every cell', () => {
    expect(compared(right, pinned, ZONE)).toEqual([
      ...Object.keys(pinned.worlds).map(() => 'equal'),
      expect.stringMatching(/^\d+ equal$/),
    ]);
  });

  it('that came to another head of a world is different there and only there', () => {
    const counter = { ...(pinned.worlds.counter as object), head: '00' };
    expect(compared({ ...right, worlds: { ...pinned.worlds, counter } }, pinned, ZONE).slice(0, 3)).toEqual([
      'DIFFERENT',
      'equal',
      'equal',
    ]);
  });

  it('that came to another head of a scenario is told with scenario and protocol', () => {
    const scenarios = { ...pinned.scenarios, 'no-tool': { ...pinned.scenarios['no-tool'], 'openai-responses': {} } };
    expect(compared({ ...right, scenarios }, pinned, ZONE).at(-1)).toBe('DIFFERENT: no-tool openai-responses');
  });

  it('that left a world out is different there', () => {
    expect(compared({ ...right, worlds: {} }, pinned, ZONE)[0]).toBe('DIFFERENT');
  });

  it('that left the scenarios out is different, unless nobody asked for them', () => {
    const page: Heads = { zone: ZONE, worlds: pinned.worlds };
    expect(compared(page, pinned, ZONE).at(-1)).toMatch(/^DIFFERENT: no-tool openai-responses, /);
    expect(compared(page, { worlds: pinned.worlds }, ZONE).at(-1)).toBe('–');
  });

  it('that did not notice its time zone proves nothing', () => {
    expect(compared({ ...right, zone: 'UTC' }, pinned, ZONE)).toEqual([
      'DIFFERENT: it stands in UTC, not in Pacific/Apia',
    ]);
  });
});
