import { ERROR_CODES } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { run } from './run.js';

describe('reprise explain', () => {
  it('reprise explain prints the page of each error code with absolute links', async () => {
    for (const code of ERROR_CODES) {
      const { code: exit, out } = await run('explain', code);
      expect([code, exit]).toEqual([code, 0]);
      expect(out).toMatch(new RegExp(`^# ${code}\n[\\s\\S]*## What to do\n`));
      for (const [, target] of out.matchAll(/\]\(([^)]*)\)/g))
        expect([code, target]).toEqual([code, expect.stringMatching(/^(https:|#)/)]);
    }
  });

  it('reprise explain accepts a code copied from a message with its colon', async () => {
    expect((await run('explain', 'fenced:')).out).toBe((await run('explain', 'fenced')).out);
  });

  it('reprise explain lists every code with what happened when no code is given', async () => {
    const { code, out } = await run('explain');
    expect(code).toBe(0);
    expect(out.match(/^\w+$/gm)).toEqual([...ERROR_CODES].sort());
    expect(out).toContain('fenced\n  The journal holds frames that this writer did not write.');
    const listed = JSON.parse((await run('explain', '--json')).out) as { code: string; what: string }[];
    expect(listed.filter(({ what }) => what === '')).toEqual([]);
  });

  it('reprise explain refuses an unknown code and says how to list all codes', async () => {
    const { code, err } = await run('explain', 'fence');
    expect(code).toBe(2);
    expect(err).toContain('`reprise explain` without a code lists all of them');
    expect(err).toContain('npx reprise explain invalid_argument');
  });
});
