import { memory } from '@reprise/kernel';
import { type StoreSubject, type TestRunner, testJournal } from '@reprise/testkit/ports';
import { describe, expect, it } from 'vitest';

const EMPTY = 'given nothing was appended, the head is the empty one and there is no frame';
const make = async (): Promise<StoreSubject> => ({ store: memory() });

/** A runner that only keeps what is registered. */
function recorder(): { runner: TestRunner; tests: Map<string, () => Promise<void>> } {
  const tests = new Map<string, () => Promise<void>>();
  return { tests, runner: { describe: (_, body) => body(), it: (name, body) => tests.set(name, body) } };
}

describe('waivers', () => {
  it('a waived rule that is broken passes, and its title names the reason', async () => {
    const { runner, tests } = recorder();
    const broken = async () => ({ store: { ...memory(), open: () => Promise.reject(new Error('broken')) } });
    testJournal({ name: 'x', runner, make: broken, skip: [{ reason: 'no disk', tests: [EMPTY] }] });
    await expect(tests.get(`${EMPTY} (waived: no disk)`)?.()).resolves.toBeUndefined();
  });

  it('a waiver of a rule that is met is stale and fails', async () => {
    const { runner, tests } = recorder();
    testJournal({ name: 'x', runner, make, skip: [{ reason: 'no disk', tests: [EMPTY] }] });
    await expect(tests.get(`${EMPTY} (waived: no disk)`)?.()).rejects.toThrow(/stale/);
  });

  it('a waiver without a rule is refused at the registration', () => {
    const skip = [{ reason: 'a typo', tests: ['given nothing'] }];
    expect(() => testJournal({ name: 'x', runner: recorder().runner, make, skip })).toThrow(/given nothing/);
  });
});

describe('titles', () => {
  it('the title of a rule cites its clauses, and a waiver names the rule without them', () => {
    const { runner, tests } = recorder();
    const APPEND = 'given an append, it resolves to the head it made';
    testJournal({ name: 'x', runner, make, skip: [{ reason: 'no disk', tests: [APPEND] }] });
    const [title] = [...tests.keys()].filter((key) => key.startsWith(APPEND));
    expect(title).toMatch(/ \[JRN-\d+\] \(waived: no disk\)$/);
  });
});

describe('cleaning up', () => {
  it('a subject is disposed of when its check fails', async () => {
    const { runner, tests } = recorder();
    let disposed = 0;
    const failing = { ...memory(), open: () => Promise.reject(new Error('broken')) };
    testJournal({ name: 'x', runner, make: async () => ({ store: failing, dispose: async () => void disposed++ }) });
    await expect(tests.get(EMPTY)?.()).rejects.toThrow('broken');
    expect(disposed).toBe(1);
  });
});
