/** An app whose states have every kind of place where a kept state could be mistaken for one that was checked. */
import { type Address, type Value, value } from '@reprise/contracts';
import fc from 'fast-check';
import * as z from 'zod';
import { type App, creates, defineApp, defineReducer, type Table } from '../../src/index.js';

/** The cells of the app. */
export const CELLS: readonly [Address, Address] = [
  ['kept/Keeper@1', 'a'],
  ['kept/Keeper@1', 'b'],
];

/** The name of the only event. */
export const CHANGED = 'kept/Changed@1';

/** One change of a state. */
export type Change =
  | { readonly do: 'slot'; readonly kind: 'texts' | 'counts' | 'both'; readonly inner: 'same' | 'text' | 'count' }
  | { readonly do: 'text'; readonly bytes: number; readonly letter: string }
  | { readonly do: 'drop'; readonly count: number }
  | { readonly do: 'swap' }
  | { readonly do: 'any'; readonly key: string; readonly what: Any }
  | { readonly do: 'forget'; readonly key: string }
  | { readonly do: 'unmark' }
  | { readonly do: 'mark'; readonly n: number }
  | { readonly do: 'maybe'; readonly n: number | null }
  | { readonly do: 'put'; readonly key: string; readonly n: number }
  | { readonly do: 'remove'; readonly key: string }
  | { readonly do: 'append'; readonly n: number }
  | { readonly do: 'end' };

/** What is written where any value may stand. */
type Any = 'bytes' | 'list' | 'map' | 'turned' | 'zero' | 'minus' | 'half' | 'alias' | 'text';

const texts = z.strictObject({ kind: z.literal('texts'), inner: z.strictObject({ x: z.string() }) });
const counts = z.strictObject({ kind: z.literal('counts'), inner: z.strictObject({ x: z.int() }) });
const both = z.strictObject({
  kind: z.literal('both'),
  inner: z.union([z.strictObject({ x: z.string().max(3) }), z.strictObject({ x: z.int().max(9) })]),
});

const stateOf = (textMax: number) =>
  z.strictObject({
    slot: z.discriminatedUnion('kind', [texts, counts, both]),
    texts: z.array(z.string().max(textMax)).max(8),
    any: z.record(z.string(), value()),
    mark: z.int().min(0).max(9).default(7),
    maybe: z.union([z.null(), z.strictObject({ n: z.int().min(0) })]),
  });

type State = z.output<ReturnType<typeof stateOf>>;

function change(draft: State, one: Change, letters: Value): void {
  switch (one.do) {
    case 'slot': {
      const inner = one.inner === 'same' ? draft.slot.inner : { x: one.inner === 'text' ? 'long text' : 12 };
      draft.slot = { kind: one.kind, inner } as State['slot'];
      return;
    }
    case 'text':
      draft.texts.push(one.letter.repeat(one.bytes));
      return;
    case 'drop':
      draft.texts.splice(0, one.count);
      return;
    case 'swap':
      draft.texts.reverse();
      return;
    case 'any':
      draft.any[one.key] = anyOf(one.what, draft.any, letters);
      return;
    case 'forget':
      delete draft.any[one.key];
      return;
    case 'unmark':
      delete (draft as { mark?: number }).mark;
      return;
    case 'mark':
      draft.mark = one.n;
      return;
    case 'maybe':
      draft.maybe = one.n === null ? null : { n: one.n };
      return;
    default:
      return;
  }
}

function anyOf(what: Any, held: State['any'], letters: Value): Value {
  switch (what) {
    case 'bytes':
      return [new Uint8Array([1, 2, 3])];
    case 'list':
      return [1, [2, 'x'], { y: null }];
    case 'map':
      return { a: 1, b: { c: [2] } };
    case 'turned':
      return { b: { c: [2] }, a: 1 };
    case 'zero':
      return [0];
    case 'minus':
      return [-0];
    case 'half':
      return { present: 1, absent: undefined } as unknown as Value;
    case 'alias':
      return held as Value;
    case 'text':
      return letters;
    default:
      return what satisfies never;
  }
}

function keeper(version: 1 | 2, textMax: number): ReturnType<typeof defineReducer> {
  return defineReducer({
    name: `kept/Keeper@${version}`,
    state: stateOf(textMax),
    events: { [CHANGED]: creates(z.strictObject({ changes: z.array(value()), letters: value() })) },
    logs: { seen: z.int() },
    tables: { rows: z.strictObject({ n: z.int() }) },
    // States come over as they are: what the new schema does not take is refused at the next delivery.
    ...(version === 1 ? {} : { migrates: { from: keeper(1, TEXT_MAX), state: (old: Value) => old as State } }),
    init: () => ({
      slot: { kind: 'texts' as const, inner: { x: '' } },
      texts: [],
      any: {},
      mark: 7,
      maybe: null,
    }),
    reduce(draft, event, ctx) {
      const { changes, letters } = event.value as unknown as {
        readonly changes: readonly Change[];
        readonly letters: Value;
      };
      for (const one of changes) {
        if (one.do === 'append') ctx.append('seen', one.n);
        else if (one.do === 'end') ctx.end();
        else if (one.do === 'remove') ctx.table('rows').delete(one.key);
        else if (one.do === 'put') draft.any.row = addTo(ctx.table('rows'), one);
        else change(draft as State, one, letters);
      }
    },
  });
}

const TEXT_MAX = 40_000;

/** Writes into the row that it got, and does not always set it. */
function addTo(rows: Table<{ n: number }>, { key: at, n }: Change & { do: 'put' }): number {
  const row = rows.get(at) ?? { n: 0 };
  row.n += n;
  if (n % 2 === 0) rows.set(at, row);
  return row.n;
}

/** The app, and its next version, whose states hold only shorter texts. */
export const firstApp = (): App => defineApp({ reducers: [keeper(1, TEXT_MAX)] });
export const nextApp = (): App => defineApp({ reducers: [keeper(2, 10_000)] });

const letter = fc.constantFrom('x', 'é', '€');
const key = fc.constantFrom('p', 'q', 'r');

/** Any change. */
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    do: fc.constant('slot' as const),
    kind: fc.constantFrom('texts', 'counts', 'both'),
    inner: fc.constantFrom('same', 'same', 'text', 'count'),
  }),
  {
    arbitrary: fc.record({ do: fc.constant('text' as const), bytes: fc.constantFrom(1, 9_000, 15_000), letter }),
    weight: 4,
  },
  fc.record({ do: fc.constant('drop' as const), count: fc.integer({ min: 1, max: 3 }) }),
  fc.constant({ do: 'swap' as const }),
  fc.record({
    do: fc.constant('any' as const),
    key,
    what: fc.constantFrom('bytes', 'list', 'map', 'turned', 'zero', 'minus', 'half', 'alias', 'text'),
  }),
  fc.record({ do: fc.constant('forget' as const), key }),
  fc.constant({ do: 'unmark' as const }),
  fc.record({ do: fc.constant('mark' as const), n: fc.integer({ min: -1, max: 10 }) }),
  fc.record({ do: fc.constant('maybe' as const), n: fc.option(fc.integer({ min: -1, max: 3 })) }),
  fc.record({ do: fc.constant('put' as const), key, n: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('remove' as const), key }),
  fc.record({ do: fc.constant('append' as const), n: fc.integer({ min: 0, max: 99 }) }),
  { arbitrary: fc.constant({ do: 'end' as const }), weight: 1 },
);

/** A request: to one of the cells, some changes. */
export interface Asked {
  readonly cell: 0 | 1;
  readonly changes: readonly Change[];
  readonly letters: Value;
}

/** Random requests. */
export const anyRequests: fc.Arbitrary<readonly Asked[]> = fc.array(
  fc.record({
    cell: fc.constantFrom(0 as const, 1 as const),
    changes: fc.array(anyChange, { minLength: 1, maxLength: 3 }),
    letters: fc.constantFrom<Value>('', 'abc', ['x'], { z: 1, y: 2 }),
  }),
  { minLength: 1, maxLength: 16 },
);
