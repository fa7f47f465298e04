import { expect, it } from 'vitest';
import type * as CallersModule from '../../../src/run/callers/callers.js';

/** A copy of the module of its own, as a second installed version of the package is. */
const copy = (name: string): Promise<typeof CallersModule> =>
  import(`../../../src/run/callers/callers.js?copy=${name}`);

it('copies of the kernel in one process share what carries the effect along, for which each promise pays', async () => {
  const [one, other] = [await copy('one'), await copy('other')];
  expect(one.Callers).not.toBe(other.Callers);
  const callers = new one.Callers();
  const caller = { callers, effect: 'e', name: 'demo.call@1', cell: ['demo/Cell@1', 'a'] as const, isOpen: true };
  new other.Callers().run({ ...caller, callers: new other.Callers() }, () => undefined);
  const seen = callers.run(caller, () => [callers.current, other.outsideEffects(() => callers.current)]);
  expect(seen).toEqual([caller, undefined]);
});
