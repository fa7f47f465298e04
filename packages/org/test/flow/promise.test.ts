import type { Address, Value } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROMISE } from '../../src/pure/flow/index.js';
import { deaf, type Heard, Office } from './support/office.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);
const one: Address = [PROMISE, 'one'];
const PARTS = ['x', 'y', 'z'];

type Step =
  | { readonly do: 'await'; readonly by: string }
  | { readonly do: 'unawait'; readonly by: string }
  | { readonly do: 'write'; readonly by: string; readonly part: string; readonly ok: boolean; readonly n: number }
  | { readonly do: 'cancel' }
  | { readonly do: 'pass'; readonly ms: number };

const clients = fc.constantFrom('a', 'b', 'c');
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('await' as const, 'await' as const, 'unawait' as const), by: clients }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      by: clients,
      part: fc.constantFrom(...PARTS, 'none'),
      ok: fc.boolean(),
      n: fc.nat(99),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'cancel' }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 30, 80) }) },
);
const needed = fc.constantFrom<Value>('any', 'all', 2);

/** A promise as a plain program. */
class Model {
  readonly heard = new Map<string, string[]>();
  readonly #waiting = new Set<string>();
  readonly #written = new Map<string, { readonly ok: boolean; readonly n: number }>();
  #outcome: string | undefined;

  constructor(
    needs: Value,
    private left: number,
    private readonly needed = needs === 'any' ? 1 : needs === 'all' ? PARTS.length : Number(needs),
  ) {}

  step(step: Step): void {
    switch (step.do) {
      case 'await':
        if (this.#outcome === undefined) this.#waiting.add(step.by);
        else this.#tell(step.by, this.#outcome);
        return;
      case 'unawait':
        this.#waiting.delete(step.by);
        return;
      case 'write':
        return this.#write(step.by, step.part, step.ok, step.n);
      case 'cancel':
        if (this.#outcome === undefined) this.#settle('cancelled {}');
        return;
      case 'pass':
        this.left -= step.ms;
        if (this.left <= 0 && this.#outcome === undefined) this.#settle('expired {}');
        return;
      default:
        step satisfies never;
    }
  }

  #write(by: string, part: string, ok: boolean, n: number): void {
    if (this.#outcome !== undefined) return this.#tell(by, this.#outcome);
    if (!PARTS.includes(part)) return this.#tell(by, 'part_unknown');
    if (this.#written.has(part)) return this.#tell(by, 'already_written');
    this.#written.set(part, { ok, n });
    const good = [...this.#written].filter(([, { ok: well }]) => well);
    const bad = [...this.#written].filter(([, { ok: well }]) => !well);
    const values = (list: typeof good) =>
      JSON.stringify(Object.fromEntries(list.map(([name, { n: said }]) => [name, said]).sort()));
    if (good.length >= this.needed) this.#settle(`fulfilled ${values(good)}`);
    else if (PARTS.length - bad.length < this.needed) this.#settle(`rejected ${values(bad)}`);
  }

  #settle(outcome: string): void {
    this.#outcome = outcome;
    for (const who of this.#waiting) this.#tell(who, outcome);
  }

  #tell(who: string, what: string): void {
    this.heard.set(who, [...(this.heard.get(who) ?? []), what]);
  }
}

const said = (heard: readonly Heard[]): string[] =>
  heard.map(({ name, value }) => {
    if (name !== 'flow/Settled@1') return name;
    const { status, values } = value as { status: string; values: Record<string, Value> };
    return `${status} ${JSON.stringify(Object.fromEntries(Object.entries(values).sort()))}`;
  });

async function execute(office: Office, step: Step): Promise<void> {
  if (step.do === 'pass') return office.pass(step.ms);
  if (step.do === 'cancel') return void (await office.host(one, 'flow/CancelPromise@1', {}));
  if (step.do === 'await') return office.by(step.by, one, 'flow/Await@1', {});
  if (step.do === 'unawait') return office.by(step.by, one, 'flow/Unawait@1', {});
  return office.by(step.by, one, 'flow/Write@1', { part: step.part, ok: step.ok, value: step.n });
}

type Mutant = (model: Model, step: Step) => void;

const law = (mutant: Mutant) =>
  fc.asyncProperty(needed, fc.array(steps, { maxLength: 25, size: 'max' }), async (needs, list) => {
    const office = new Office();
    await office.host(one, 'flow/OpenPromise@1', { parts: PARTS, needs, deadline: office.clock.wall() + 100 });
    const model = new Model(needs, 100);
    for (const step of list) {
      await execute(office, step);
      await office.settle();
      mutant(model, step);
    }
    for (const key of ['a', 'b', 'c']) expect(said(await office.heard(key))).toEqual(model.heard.get(key) ?? []);
    await office.close();
  });

describe(`a promise (seed ${SEED})`, () => {
  it('a promise ends once and notifies like a plain model, for any sequence of commands [FLOW-3]', async () => {
    await fc.assert(
      law((model, step) => model.step(step)),
      { seed: SEED, numRuns: 30 },
    );
  });

  it.each<[string, Mutant]>([
    ['takes the last writer', (model, step) => model.step(step.do === 'write' ? { ...step, n: step.n + 1 } : step)],
    ['never expires', (model, step) => (step.do === 'pass' ? undefined : model.step(step))],
    ['takes every part for a success', (model, step) => model.step(step.do === 'write' ? { ...step, ok: true } : step)],
  ])('a mutant of the model that %s is found', async (_, mutant) => {
    const found = await fc.check(law(mutant), { seed: SEED, numRuns: 60, endOnFailure: true });
    expect(found.failed).toBe(true);
  });

  it('a promise with more waiting cells than fit in a frame notifies each once, in several frames [FLOW-3]', async () => {
    const office = new Office();
    await office.host(one, 'flow/OpenPromise@1', { parts: ['x'], needs: 'all' });
    for (let i = 0; i < 150; i++) await office.by(`w${i}`, one, 'flow/Await@1', {});
    await office.host(deaf('d'), 'test/Told@1', { to: [...one], name: 'flow/Await@1', value: {} });
    await office.host(one, 'flow/Write@1', { part: 'x', ok: true, value: 'x'.repeat(9_000) });
    expect((await office.table(one, 'waiting')).length).toBeGreaterThan(60);
    expect(await office.host(one, 'flow/ClosePromise@1', {})).toBe('not_resolved');
    await office.rest();
    for (let i = 0; i < 150; i++) expect((await office.heard(`w${i}`)).length).toBe(1);
    expect(await office.host(one, 'flow/Write@1', { part: 'x', ok: true, value: 1 })).toBe('settled/fulfilled');
    expect(await office.host(one, 'flow/ClosePromise@1', {})).toBeUndefined();
    await office.close();
  });

  it('a promise refuses invalid parts, and commands that the sender may not send [FLOW-7]', async () => {
    const office = new Office();
    const open = (value: object) => office.host(one, 'flow/OpenPromise@1', value as never);
    expect(await open({ parts: ['x', 'x'], needs: 'all' })).toBe('part_repeated');
    expect(await open({ parts: ['x'], needs: 2 })).toBe('needs_too_many');
    expect(await open({ parts: ['x', 'constructor'], needs: 'all' })).toBeUndefined();
    expect(await open({ parts: ['x'], needs: 'all' })).toBe('already_open');
    expect(await office.host(one, 'flow/Await@1', {})).toBe('no_cell');
    expect(await office.host(one, 'flow/Write@1', { part: 'x', ok: true, value: 'é'.repeat(9_000) })).toBe(
      'value_too_large',
    );
    expect(await office.host(one, 'flow/Write@1', { part: 'constructor', ok: true, value: 1 })).toBeUndefined();
    await office.by('b', one, 'flow/CancelPromise@1', {});
    expect(said(await office.heard('b'))).toEqual(['not_yours']);
    await office.close();
  });
});
