/** What a host is opened with: junk is refused before anything is opened, and named. */
import { describe, expect, it } from 'vitest';
import { memoryDirectory, openHost } from '../../../src/serve/host/index.js';
import { expectRefused } from '../../run/world/ask/junk.js';
import { refusal } from '../../support/judge.js';
import { TestClock } from '../../support/test-clock.js';

let opened = 0;

/** Options of a host that opens no world; openings of its directory are counted. */
function options(change: object = {}) {
  const directory = memoryDirectory();
  const counting = {
    ...directory,
    open: () => {
      opened++;
      return directory.open();
    },
  };
  const never = () => {
    throw new Error('no world is opened here');
  };
  return { directory: counting, store: never, open: never, maxOpen: 1, clock: new TestClock(), ...change };
}

async function opening(change: object): Promise<void> {
  const host = await openHost(options(change) as never);
  await host.close();
}

const FUNCTIONS = ['a function', 'a class'];

describe('given invalid options', () => {
  it('a host with any invalid option is not opened, and its directory is not used [REQ-9]', async () => {
    const noFunction = (junk: unknown) => (typeof junk === 'function' ? undefined : junk);
    const before = opened;
    await expectRefused((junk) => openHost(junk as never), 'openHost');
    for (const name of ['directory', 'store', 'open']) {
      await expectRefused((junk) => opening({ [name]: noFunction(junk) }), name);
    }
    await expectRefused((junk) => opening({ limits: [junk] }), 'a limit');
    expect(opened).toBe(before);
    await expectRefused((junk) => opening({ clock: junk }), 'clock', ['undefined']);
    await expectRefused((junk) => opening({ maxOpen: junk }), 'maxOpen', ['undefined', 'one']);
    await expectRefused((junk) => opening({ limits: junk }), 'limits', ['undefined', 'no list']);
    await expectRefused((junk) => opening({ onError: junk }), 'onError', ['undefined', ...FUNCTIONS]);
    for (const time of ['idleMs', 'waitMs']) {
      const times = ['undefined', 'zero', 'one', 'a fraction', 'infinity', 'beyond integers'];
      await expectRefused((junk) => opening({ [time]: junk }), time, times);
    }
  });

  it.each([
    [{ effect: 7, concurrent: 1 }, 'limits[1].effect'],
    [{ effect: 'a*b', concurrent: 1 }, 'limits[1].effect'],
    [{ effect: '*' }, 'limits[1]'],
    [{ effect: '*', concurrent: 0 }, 'limits[1].concurrent'],
    [{ effect: '*', concurrent: 1.5 }, 'limits[1].concurrent'],
    [{ effect: '*', per: 7 }, 'limits[1].per'],
    [{ effect: '*', per: { ms: 1, max: 0 } }, 'limits[1].per'],
    [{ effect: '*', per: { ms: 0, max: 1 } }, 'limits[1].per'],
    [{ effect: '*', concurrent: 1, per: { ms: 1 } }, 'limits[1].per'],
  ])('an error about the limit %j names it', async (limit, where) => {
    const good = { effect: 'llm.*', concurrent: 1, per: { ms: 1, max: 1 } };
    const error = await refusal(opening({ limits: [good, limit] }));
    expect([error.code, error.details.where]).toEqual(['invalid_argument', where]);
    await opening({ limits: [good] });
  });
});
