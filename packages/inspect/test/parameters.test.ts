/** Parameters of strangers: whatever they are, they are a mistake of the client. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeScene } from '../../cli/test/operators/scene.js';
import { freshFolder } from '../../cli/test/worlds.js';
import { openPage, type Page, QUESTIONS } from './page.js';

const folder = freshFolder();
const file = folder.file('scene.db');
let page: Page;
beforeAll(async () => {
  await makeScene(file);
  page = await openPage(file);
});
afterAll(async () => {
  await page.close();
  folder.remove();
});

/** The same numbers each time. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const ODD = [
  '',
  '-1',
  '1.5',
  '1e3',
  'NaN',
  '٣',
  '0x10',
  '99999999999999999999',
  '%00',
  '\u202e',
  'a\nb',
  "'; DROP TABLE frame; --",
  '<script>window.__pwned=1</script>',
  '../../etc/passwd',
  'x/y@1/z',
  'aos.agent/SessionReducer@1/',
  '😀'.repeat(40),
  '\ud800',
  'sha256:zz',
  'null',
  '[object Object]',
  '__proto__',
  'human:',
  'cell:',
  'x'.repeat(5_000),
];

const SEED = Number(process.env.REPRISE_SEED ?? 1);

describe('parameters of the page of a world', () => {
  it.each(Object.keys(QUESTIONS))(
    `the question %s with odd values, seed ${SEED}, is answered, or refused as a mistake of the client [SRV-29]`,
    async (name) => {
      const roll = dice(SEED * 1_000 + name.length);
      const names = [...new URLSearchParams(QUESTIONS[name]).keys(), 'at', 'limit', 'after', 'other'];
      for (let n = 0; n < 60; n++) {
        const query = new URLSearchParams(QUESTIONS[name]?.replace('DIGEST', 'a'.repeat(64)));
        const key = names[roll(names.length)] ?? 'at';
        query.set(key, ODD[roll(ODD.length)] ?? '');
        if (roll(8) === 0) query.append(key, '1');
        const { status, json } = await page.ask(`/api/${name}?${query}`);
        const asked = `${name}?${query}`.slice(0, 200);
        expect({ asked, isFine: status === 200 || (status >= 400 && status < 500) }).toEqual({ asked, isFine: true });
        if (status !== 200)
          expect(json).toMatchObject({ code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) });
      }
    },
  );

  it.each([
    'now?at=1&at=2',
    'now?other=1',
    'records?limit=0',
    'records?limit=1001',
    'strip?buckets=401',
    'cost?by=agent,agent',
    'cost?by=',
    'blob',
    'diff?a=1',
    'diff?a=9&b=2',
    'follow?x=1',
  ])('%s is refused with 400, the code invalid_argument and the parameter [SRV-29]', async (path) => {
    const { status, json } = await page.ask(`/api/${path}`);
    expect({ status, code: json.code }).toEqual({ status: 400, code: 'invalid_argument' });
  });

  it('an address that is no address is refused', async () => {
    for (const path of ['/api/world?%', '//', '/api//world', '/api/world/', '/api/%00'])
      expect((await page.ask(path)).status).toBeLessThan(500);
  });
});
