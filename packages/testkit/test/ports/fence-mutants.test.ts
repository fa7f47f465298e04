/** The suite of shared stores finds each broken promise, and an honest store keeps all of them. */
import { fenceChecks, runCheck } from '@reprise/testkit/ports';
import { describe, expect, it } from 'vitest';
import { type FenceFault, fencedMemory } from './fenced-memory.js';

const FENCED = 'given a take-over, every write of the owner before it is fenced and leaves nothing';
const FAILS = 'given a storage that fails, every call says so with a code, and nothing that was acknowledged is lost';

const FAULTS: readonly (readonly [fault: FenceFault, caughtBy: string])[] = [
  ['append is not fenced', FENCED],
  ['note is not fenced', FENCED],
  [
    'head is not fenced',
    'given the very frame that the owner before it failed to write, its author alone may take it for its own',
  ],
  ['late content stays', 'given a take-over, content that the owner before it stores late is not there'],
  ['take-over counts as a death', 'given a take-over, the next owner learns that nobody saw the owner before it die'],
  ['close gives away', 'given a take-over, the close of the owner before it gives nothing of the next one away'],
  ['lease comes again', 'given a tenure that has ended, it is over for good, and tells so'],
  ['number stays', 'given a tenure, its number rises with each opening, also of one process after a clean close'],
  ['second opener gets in', 'given an owner that lives, another opener is refused however often it tries'],
  ['openers are let in together', 'given many openers at once, one of them gets the store'],
  ['reads take an append for a hole', 'given a writer, no read of another process takes an append for damage'],
  ['errors have no code', FAILS],
  ['failure loses a frame', FAILS],
];

describe('the suite of shared stores', () => {
  for (const check of fenceChecks)
    it(`an honest shared store passes: ${check.name}`, () => runCheck(check, async () => fencedMemory()));

  for (const [fault, caughtBy] of FAULTS) {
    it(`mutant: a shared store whose ${fault} is found`, async () => {
      const check = fenceChecks.find(({ name }) => name === caughtBy);
      if (check === undefined) throw new Error(`no check is named "${caughtBy}"`);
      const caught = await runCheck(check, async () => fencedMemory(fault)).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(caught, `"${check.name}" did not notice`).toBeInstanceOf(Error);
      expect(caught, 'the mutant is broken by accident').not.toBeInstanceOf(TypeError);
    });
  }

  it('every check finds a mutant', () => {
    const idle = fenceChecks.filter(({ name }) => !FAULTS.some(([, caughtBy]) => caughtBy === name));
    expect(idle.map(({ name }) => name)).toEqual([]);
  });
});
