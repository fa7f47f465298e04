/** What is not looked at again, since it was looked at before: the same refusals as if it were. */
import { type Address, type Value, value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { byteLength, copyNormal, encode } from '../../../../src/pure/codec/index.js';
import { creates, defineApp, defineReducer } from '../../../../src/pure/define/index.js';
import { CellContext } from '../../../../src/pure/engine/cell/cell-context.js';
import { nextCell, rememberState } from '../../../../src/pure/engine/cell/next-state.js';
import { LEAF_BYTES_MAX } from '../../../../src/pure/engine/leaf/bounds.js';
import type { CellLeaf, CellState } from '../../../../src/pure/engine/leaf/leaves.js';
import { Fault } from '../../../../src/pure/engine/leaf/signals.js';
import { check, checkNext, compileSchema } from '../../../../src/pure/schema/index.js';

const keeping = (text: z.ZodType) =>
  defineReducer({
    name: 'test/Keeps@1',
    state: z.strictObject({ kept: text, texts: z.array(z.string()) }),
    events: { 'test/Got@1': creates(z.strictObject({})) },
    init: () => ({ kept: '', texts: [] }),
    reduce: () => undefined,
  });

const bounds = { inc: 0, live: true, n: 1, ord: 0, failed: null, parent: null, plans: [], timers: {}, logs: [] };
const cellWith = (state: CellState): CellLeaf => ({ ...bounds, state });

describe('the state that a delivery leaves', () => {
  it('given a state that fitted another schema, when a delivery leaves it as it was, then the whole is looked at [RED-5]', () => {
    const [loose, strict] = [keeping(z.string()), keeping(z.string().max(2))];
    const state: CellState = { kept: 'long text', texts: [] };
    rememberState(loose, state, encode(cellWith(state)).length);
    expect(nextCell(loose, state, cellWith(copyNormal(state) as CellState))?.state).toBe(state);
    expect(nextCell(strict, state, cellWith(copyNormal(state) as CellState))).toBeUndefined();
  });

  it('given a state that nothing is known of, when a delivery leaves it, then the whole is looked at [RED-5]', () => {
    const state: CellState = { kept: 'x', texts: [] };
    expect(nextCell(keeping(z.string()), state, cellWith(copyNormal(state) as CellState))).toBeUndefined();
  });

  it('given states that grow by each delivery, when one is too large for its leaf, then exactly that one is refused [RED-5]', () => {
    const reducer = keeping(z.string());
    let state: CellState = { kept: 'x', texts: [] };
    rememberState(reducer, state, encode(cellWith(state)).length);
    for (let taken = 0; ; taken++) {
      const draft = copyNormal(state) as { kept: string; texts: string[] };
      draft.texts.push('t'.repeat(500));
      const next = nextCell(reducer, state, cellWith(draft));
      expect(next !== undefined).toBe(encode(cellWith(draft)).length <= LEAF_BYTES_MAX);
      if (next === undefined) return expect(taken).toBeGreaterThan(100);
      state = next.state;
    }
  });

  it('given a schema that takes any value, when a delivery leaves bytes in the state, then the whole is looked at [RED-5]', () => {
    const reducer = keeping(value() as z.ZodType);
    const state: CellState = { kept: 'x', texts: [] };
    rememberState(reducer, state, encode(cellWith(state)).length);
    expect(nextCell(reducer, state, cellWith({ kept: ['y'], texts: [] }))?.state).toEqual({ kept: ['y'], texts: [] });
    expect(nextCell(reducer, state, cellWith({ kept: [new Uint8Array(1)], texts: [] }))).toBeUndefined();
  });

  it('given a state near its bound, when what is changed takes the place of as much, then it is not refused [RED-5]', () => {
    const reducer = keeping(z.string());
    let state: CellState = { kept: 'x'.repeat(50_000), texts: [] };
    rememberState(reducer, state, encode(cellWith(state)).length);
    for (let i = 0; i < 5; i++) {
      const next = nextCell(reducer, state, cellWith({ kept: String(i).repeat(50_000), texts: [] }));
      expect(byteLength(next?.state)).toBe(byteLength(state));
      state = next?.state as CellState;
    }
  });

  it.each(['timers', 'tables'] as const)(
    'given %s with the name that no map may have, then the whole is looked at [RED-5]',
    (of) => {
      const reducer = keeping(z.string());
      const state: CellState = { kept: 'x', texts: [] };
      rememberState(reducer, state, encode(cellWith(state)).length);
      const named = JSON.parse('{"a": 1, "__proto__": 2}');
      expect(nextCell(reducer, state, { ...cellWith(copyNormal(state) as CellState), [of]: { a: 1 } })).toBeDefined();
      expect(nextCell(reducer, state, { ...cellWith(copyNormal(state) as CellState), [of]: named })).toBeUndefined();
    },
  );

  it('given a cell with much around its state, when a delivery leaves it, then exactly what is too large is refused [RED-5]', () => {
    const reducer = keeping(z.string());
    const state: CellState = { kept: 'x'.repeat(40_000), texts: [] };
    rememberState(reducer, state, encode(cellWith(state)).length);
    for (let plans = 4_000; plans < 9_000; plans += 250) {
      const cell = {
        ...cellWith(copyNormal(state) as CellState),
        plans: Array.from({ length: plans }, (_, i) => i + 65_536),
      };
      expect(nextCell(reducer, state, cell) !== undefined).toBe(encode(cell).length <= LEAF_BYTES_MAX);
    }
  });

  it('the heads of tables and the timers stand in canonical order, whatever was written first [RED-5]', () => {
    const reducer = { ...keeping(z.string()), tables: new Map([...'cba'].map((name) => [name, { type: 'value' }])) };
    const cell = { ...cellWith({}), timers: { later: 2 } };
    const to: Address = ['test/Keeps@1', 'x'];
    const delivery = { to, from: null, adapter: null, actor: null };
    const fold = { overlay: { get: () => undefined }, rules: {}, env: {} };
    const context = new CellContext(fold as never, reducer as never, cell, delivery);
    for (const name of 'cab') context.table(name).set('key', name);
    for (const name of ['now', 'a']) context.timer(name, 1);
    expect(Object.keys(context.tables.heads ?? {})).toEqual(['a', 'b', 'c']);
    expect(Object.keys(context.timers)).toEqual(['a', 'now', 'later']);
    expect(Object.keys(cell.timers)).toEqual(['later']);
  });

  it('what waits until it is delivered is counted with what waits, and a fact is not [RED-5]', () => {
    const reducer = keeping(z.string());
    const app = defineApp({ reducers: [reducer] });
    const to: Address = ['test/Keeps@1', 'x'];
    const fold = { overlay: { get: () => undefined }, rules: {}, env: { app } };
    const facts = new Map([['test/Told@1', { type: 'text' }]]);
    const delivery = { to, from: null, adapter: null, actor: null };
    const context = new CellContext(fold as never, { ...reducer, facts } as never, cellWith({}), delivery);
    context.record('test/Told@1', 'told');
    expect(context.waitingBytes).toBe(0);
    const counted = context.valueBytes;
    context.send(to, { name: 'test/Got@1', value: {} });
    expect(context.waitingBytes).toBe(context.valueBytes - counted);
    expect(context.waitingBytes).toBeGreaterThan(0);
    expect(() => context.send(to, { name: 'test/Got@1', value: { odd: 1 } })).toThrow(Fault);
    expect(context.waitingBytes).toBe(context.valueBytes - counted);
  });

  const options = [
    z.strictObject({ kind: z.literal('a'), inner: z.strictObject({ x: z.string() }) }),
    z.strictObject({ kind: z.literal('b'), inner: z.strictObject({ x: z.int() }) }),
  ] as const;
  it.each([
    ['a union', z.union(options)],
    ['a union with a tag', z.discriminatedUnion('kind', options)],
  ])('what fitted one option of %s says nothing about another option [SCH-3]', (_which, union) => {
    const node = compileSchema(union);
    const before = { kind: 'a', inner: { x: 'text' } };
    const after = { kind: 'b', inner: before.inner };
    expect(check(node, before).ok).toBe(true);
    expect(checkNext(node, after as Value, before as Value)).toEqual(check(node, after as Value));
    expect(check(node, after as Value).ok).toBe(false);
    expect(checkNext(node, { ...before }, before)).toEqual(check(node, { ...before }));
  });
});
