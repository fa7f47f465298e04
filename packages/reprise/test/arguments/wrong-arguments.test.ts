/**
 * Arguments of the wrong kind, in every function of every entry. The adversary is a caller without types: JavaScript, a
 * web form, a forgotten `await`.
 */
import { ERROR_CODES, isRepriseError } from '@reprise/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENTRIES } from './entries.js';
import { handleMethods, handles } from './handle-calls.js';
import { makers, methods, openers, waitingWorld } from './right-calls.js';
import { flawOf, type RightCall, thrownBy, unnamed, wrongCalls } from './wrong-kinds.js';

/** What is wrong with the answers to every wrong call of some right ones. */
async function flawsOf(calls: readonly RightCall[]): Promise<{ readonly tried: number; readonly flaws: string[] }> {
  const flaws: string[] = [];
  let tried = 0;
  for (const right of calls)
    for (const wrong of wrongCalls(right)) {
      tried++;
      const error = await thrownBy(wrong.run);
      const flaw = flawOf(error) ?? unnamed(error, wrong);
      if (flaw !== undefined) flaws.push(`${wrong.name}, ${wrong.given} at ${wrong.place}: ${flaw}`);
    }
  return { tried, flaws };
}

describe('an argument of the wrong kind', () => {
  let open: Awaited<ReturnType<typeof waitingWorld>>;
  beforeAll(async () => {
    open = await waitingWorld();
  });
  afterAll(() => open.world.close());

  it('functions that define and make things refuse each wrong argument and each wrong option by name', async () => {
    const { tried, flaws } = await flawsOf(makers());
    expect(flaws).toEqual([]);
    expect(tried).toBeGreaterThan(400);
  });

  it('functions that open worlds and stores refuse each wrong argument and each wrong option by name', async () => {
    const { tried, flaws } = await flawsOf(await openers());
    expect(flaws).toEqual([]);
    expect(tried).toBeGreaterThan(100);
  });

  it('methods of worlds, sessions and runs refuse each wrong argument and each wrong option by name', async () => {
    const before = open.world.kernel.head;
    const { tried, flaws } = await flawsOf(methods(open));
    expect(flaws).toEqual([]);
    expect(tried).toBeGreaterThan(600);
    expect(open.world.kernel.head).toEqual(before); // a refused call leaves nothing
  });

  it('methods of trees, teams, societies, groups, swarms and hosts refuse each wrong argument and each wrong option in words', async () => {
    const at = await handles();
    const calls = await handleMethods(at);
    const isCall = ({ name }: RightCall) => name.startsWith('entity.'); // calls of tools are refused as data, by the tool's name
    const { tried, flaws } = await flawsOf(calls.filter((one) => !isCall(one)));
    expect(flaws).toEqual([]);
    expect(tried).toBeGreaterThan(700);
    for (const wrong of calls.filter(isCall).flatMap((right) => [...wrongCalls(right)])) {
      const error = await thrownBy(wrong.run);
      expect(isRepriseError(error), `${wrong.name}, ${wrong.given} at ${wrong.place}: ${String(error)}`).toBe(true);
    }
    await at.world.close();
    await at.host.close();
  });

  it('no function of any entry ends a wrong first argument with a TypeError, a hang or an address of its inside', async () => {
    const flaws: string[] = [];
    const called = new Set<unknown>();
    for (const [entry, offers] of Object.entries(ENTRIES))
      for (const [name, call] of Object.entries(offers)) {
        if (typeof call !== 'function' || LEFT_OUT.has(name) || called.has(call)) continue;
        called.add(call);
        for (const wrong of wrongCalls({ name, call: callable(call), args: [Symbol('right')] })) {
          const error = await thrownBy(wrong.run);
          const flaw = error === undefined ? undefined : flawOf(error);
          if (flaw !== undefined) flaws.push(`${entry} ${name}, ${wrong.given}: ${flaw}`);
          if (isRepriseError(error)) expect(ERROR_CODES).toContain(error.code);
        }
      }
    expect(flaws).toEqual([]);
    expect(called.size).toBeGreaterThan(120);
  });
});

/** It changes the process. */
const LEFT_OUT: ReadonlySet<string> = new Set(['installGuard']);

function callable(offer: unknown): (...args: never[]) => unknown {
  const isClass = /^class\b/.test(Function.prototype.toString.call(offer));
  if (!isClass) return offer as (...args: never[]) => unknown;
  return (...args: never[]) => new (offer as new (...given: never[]) => unknown)(...args);
}
