import { describe, expect, it } from 'vitest';
import { compared, type Heads, pinnedHeads } from './compared.js';

const ZONE = 'Pacific/Apia';
const pinned = pinnedHeads();
const right: Heads = { zone: ZONE, ...pinned };

describe('a runtime compared with the pinned results', () => {
  it('a runtime with the same results is equal in every cell', () => {
    expect(compared(right, pinned, ZONE)).toEqual([
      ...Object.keys(pinned.worlds).map(() => 'equal'),
      expect.stringMatching(/^\d+ equal$/),
    ]);
  });

  it('a runtime with another head of one world differs there and only there', () => {
    const counter = { ...(pinned.worlds.counter as object), head: '00' };
    expect(compared({ ...right, worlds: { ...pinned.worlds, counter } }, pinned, ZONE).slice(0, 3)).toEqual([
      'DIFFERENT',
      'equal',
      'equal',
    ]);
  });

  it('a different head of a scenario is reported with scenario and protocol', () => {
    const scenarios = { ...pinned.scenarios, 'no-tool': { ...pinned.scenarios['no-tool'], 'openai-responses': {} } };
    expect(compared({ ...right, scenarios }, pinned, ZONE).at(-1)).toBe('DIFFERENT: no-tool openai-responses');
  });

  it('a runtime without the result of a world differs there', () => {
    expect(compared({ ...right, worlds: {} }, pinned, ZONE)[0]).toBe('DIFFERENT');
  });

  it('a runtime without scenarios differs, unless none were requested', () => {
    const page: Heads = { zone: ZONE, worlds: pinned.worlds };
    expect(compared(page, pinned, ZONE).at(-1)).toMatch(/^DIFFERENT: no-tool openai-responses, /);
    expect(compared(page, { worlds: pinned.worlds }, ZONE).at(-1)).toBe('–');
  });

  it('a runtime that ignores its time zone proves nothing', () => {
    expect(compared({ ...right, zone: 'UTC' }, pinned, ZONE)).toEqual([
      'DIFFERENT: it stands in UTC, not in Pacific/Apia',
    ]);
  });
});
