import { fileURLToPath } from 'node:url';
import type { Address } from '@reprise/contracts';
import { expect, it } from 'vitest';
import type * as CallersModule from '../../../src/run/callers/callers.js';

/** A copy of the module of its own, as a second installed version of the package is. */
function copy(name: string): Promise<typeof CallersModule> {
  const file = fileURLToPath(new URL('../../../src/run/callers/callers.ts', import.meta.url));
  return import(/* @vite-ignore */ `${file}?copy=${name}`);
}

it('two copies of the kernel in one process share what carries the effect along, for which each promise pays', async () => {
  const [one, other] = [await copy('one'), await copy('other')];
  expect(one.Callers).not.toBe(other.Callers);
  const callers = new one.Callers();
  const cell: Address = ['demo/Cell@1', 'a'];
  const caller = { callers, effect: 'e', name: 'demo.call@1', cell, isOpen: true };
  new other.Callers().run({ ...caller, callers: new other.Callers() }, () => undefined);
  const seen = callers.run(caller, () => [callers.current, other.outsideEffects(() => callers.current)]);
  expect(seen).toEqual([caller, undefined]);
});
