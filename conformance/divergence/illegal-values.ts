/** Things that have no byte form, or would have two: refused at every entry point, from every caller. */
import { type Address, type RepriseError, type Value, value } from '@reprise/contracts';
import {
  creates,
  defineApp,
  defineReducer,
  memory,
  openKernelWorld,
  type ReducerContext,
  readFrame,
} from '@reprise/kernel';
import * as z from 'zod';
import { type Catch, caughtBy, placeOf, type Row, sameBytes } from './row.js';

/** A thing that is not a value, and a similar thing that is a value. */
interface Illegal {
  readonly name: string;
  readonly how: string;
  /** The reason why it is not a value. */
  readonly says: string;
  /** The path inside the thing, when only a part is illegal. */
  readonly at?: string;
  readonly broken: () => unknown;
  readonly sound: () => unknown;
  /** Events may contain links and bytes; a state may not contain bytes. */
  readonly inState?: true;
}

function deep(levels: number): unknown {
  let nested: unknown = 0;
  for (let i = 0; i < levels; i++) nested = [nested];
  return nested;
}

function ring(): unknown {
  const list: unknown[] = [];
  list.push(list);
  return list;
}

class Money {
  readonly cents = 5;
}

const ILLEGAL: readonly Illegal[] = [
  { name: 'not a number', says: 'NaN is not a value', how: '`NaN`', broken: () => Number.NaN, sound: () => 0 },
  {
    name: 'infinity',
    says: 'Infinity is not a value',
    how: '`Infinity`',
    broken: () => Number.POSITIVE_INFINITY,
    sound: () => Number.MAX_VALUE,
  },
  {
    name: 'a hole',
    says: 'a list with a hole is not a value',
    at: '[0]',
    how: 'a list with an index that was never set',
    broken: () => new Array(2),
    sound: () => [null, null],
  },
  {
    name: 'half a character',
    says: 'text with a lone surrogate is not a value',
    how: 'a lone surrogate',
    broken: () => '\ud800',
    sound: () => '\ud83d\ude00',
  },
  {
    name: 'an instance',
    says: 'an instance of a class is not a value',
    how: 'an object of a class',
    broken: () => new Money(),
    sound: () => ({ cents: 5 }),
  },
  {
    name: 'a date',
    says: 'an instance of a class is not a value',
    how: 'a `Date`',
    broken: () => new Date(0),
    sound: () => 0,
  },
  {
    name: 'a map',
    says: 'an instance of a class is not a value',
    how: 'a `Map`, whose order is its own',
    broken: () => new Map([['a', 1]]),
    sound: () => ({ a: 1 }),
  },
  {
    name: 'a set',
    says: 'an instance of a class is not a value',
    how: 'a `Set`, whose order is its own',
    broken: () => new Set([1]),
    sound: () => [1],
  },
  { name: 'a big integer', says: 'a bigint is not a value', how: 'a `bigint`', broken: () => 5n, sound: () => 5 },
  {
    name: 'a symbol',
    says: 'a symbol is not a value',
    how: 'a `Symbol` with a description',
    broken: () => Symbol('a'),
    sound: () => 'a',
  },
  { name: 'a function', says: 'a function is not a value', how: 'a function', broken: () => () => 1, sound: () => 1 },
  {
    name: 'a getter',
    says: 'an accessor is not a value',
    at: '.a',
    how: 'a property that is computed',
    broken: getter,
    sound: () => ({ a: 1 }),
  },
  {
    name: 'a ring',
    says: 'nests deeper than 48',
    at: '[0]…',
    how: 'a list that contains itself',
    broken: ring,
    sound: () => [[]],
  },
  {
    name: 'a depth',
    says: 'nests deeper than 48',
    at: '[0]…',
    how: 'lists in lists beyond the bound',
    broken: () => deep(200),
    sound: () => deep(10),
  },
  {
    name: 'a prototype by name',
    says: 'a map has no key __proto__',
    at: '.__proto__',
    how: 'a key `__proto__`, as JSON gives it',
    broken: () => JSON.parse('{"__proto__":{"a":1}}'),
    sound: () => JSON.parse('{"proto":{"a":1}}'),
  },
  {
    name: 'bytes in a state',
    says: 'state holds bytes',
    how: 'a `Uint8Array`',
    broken: () => Uint8Array.of(1),
    sound: () => [1],
    inState: true,
  },
];

function getter(): unknown {
  return Object.defineProperty({}, 'a', { get: () => 1, enumerable: true, configurable: true });
}

const cellAt = (key: string): Address => ['values/Cell@1', key];
const told = { name: 'values/Told@1', value: {} };

type Recipe = (draft: { it: Value }, event: { readonly it: Value }, ctx: ReducerContext) => void;

function appOf(reduce: Recipe) {
  const cell = defineReducer({
    name: 'values/Cell@1',
    state: z.strictObject({ it: value() }),
    events: { 'values/Told@1': creates(z.strictObject({ it: value().default(null) })) },
    init: () => ({ it: null }),
    reduce: (draft, { value }, ctx) => reduce(draft as { it: Value }, value, ctx),
  });
  return defineApp({ reducers: [cell] });
}

/** The answers to a value on two ways in: the event of a request, and a reducer's state. */
async function catchesOf(make: () => unknown, inState = false): Promise<Catch[]> {
  const taking = appOf((draft, { it }) => {
    draft.it = it;
  });
  const making = appOf((draft) => {
    draft.it = make() as Value;
  });
  const ask = async (app: ReturnType<typeof appOf>, it?: unknown) => {
    await using world = await openKernelWorld({ store: memory(), app, recheckEvery: 1 });
    await world.request(cellAt('x'), it === undefined ? told : { ...told, value: { it } });
    await world.verify();
  };
  const said = inState ? [] : await caughtBy('request', ask(taking, make()), shallow);
  return [...said, ...(await caughtBy('request', ask(making), shallow))];
}

/** A path into an endless value is cut short. */
function shallow(error: RepriseError): string {
  return placeOf(error).replace(/(\[0\]){3,}/, '[0]…');
}

function caughtOf({ says, at = '', inState }: Illegal): Row['caught'] {
  if (inState) return [['request', 'delivery_faulted', `fault \`state_invalid\`: ${says}`]];
  const inPlace = `fault \`value_invalid\`: invalid_value: ${says}; at $.state.it${at}; got`;
  return [
    ['request', 'invalid_value', `$.it${at}: ${says}`],
    ['request', 'delivery_faulted', inPlace],
  ];
}

const illegalRows: readonly Row[] = ILLEGAL.map((illegal) => ({
  group: 'illegal values',
  name: illegal.name,
  how: illegal.how,
  caught: caughtOf(illegal),
  broken: () => catchesOf(illegal.broken, illegal.inState),
  sound: () => catchesOf(illegal.sound, illegal.inState),
}));

/** The state of a cell after events, replayed on the way. */
async function stateAfter(reduce: Recipe, events: readonly unknown[]): Promise<Value | undefined> {
  await using world = await openKernelWorld({ store: memory(), app: appOf(reduce), recheckEvery: 1 });
  for (const it of events) await world.request(cellAt('x'), { ...told, value: { it } });
  await world.verify();
  return world.state(cellAt('x'));
}

const never = (attempt: Promise<unknown>) => caughtBy('request', attempt);

/** A reducer that leaves this in its state. */
const left =
  (it: unknown): Recipe =>
  (draft) => {
    draft.it = it as Value;
  };

/** An event puts a task in two places of the state, the next changes it in one. */
const aliased =
  (again: (task: object) => object): Recipe =>
  (draft, { it }) => {
    const task = { done: false };
    if (it === 'begin') draft.it = { tasks: [task], current: again(task) } as unknown as Value;
    else (draft.it as unknown as { current: { done: boolean } }).current.done = true;
  };

/** Two cells are sent the same object; the first writes into it. */
const shared =
  (copy: (value: object) => object): Recipe =>
  (draft, { it }, ctx) => {
    if (it === 'share') {
      const payload = { it: { n: 1 } };
      for (const key of ['first', 'second']) ctx.send(cellAt(key), { ...told, value: copy(payload) });
    } else {
      if (ctx.address[1] === 'first') (it as unknown as { n: number }).n = 2;
      draft.it = it;
    }
  };

/** The states of two cells that get the same object, and the events in the journal. */
async function afterSharing(copy: (value: object) => object): Promise<{ second: Value | undefined; told: Value[] }> {
  const store = memory();
  await using world = await openKernelWorld({ store, app: appOf(shared(copy)), recheckEvery: 1 });
  await world.request(cellAt('x'), { ...told, value: { it: 'share' } });
  await world.verify();
  const events: Value[] = [];
  const reader = await store.openReadonly();
  for await (const { bytes, seq } of reader.journal.read(1)) {
    for (const record of readFrame(bytes, seq).all) if (record.kind === 'event') events.push(record.event.value);
  }
  return { second: await world.state(cellAt('second')), told: events };
}

/** Writes, and at the second event throws after half of it. */
const half: Recipe = (draft, { it }) => {
  draft.it = 'half';
  if (it === 'throw') throw new TypeError('half-way');
  draft.it = 'whole';
};

/** The state after a request that threw half-way. */
async function halfWay(second: string): Promise<Catch[]> {
  await using world = await openKernelWorld({ store: memory(), app: appOf(half), recheckEvery: 1 });
  await world.request(cellAt('x'), { ...told, value: { it: 'well' } });
  const caught = await never(world.request(cellAt('x'), { ...told, value: { it: second } }));
  await world.verify();
  if (caught.length === 0) return [];
  return [...caught, ...sameBytes(await world.state(cellAt('x')), { it: 'whole' }, 'the state is what it was')];
}

const lawRows: readonly Row[] = [
  {
    group: 'illegal values',
    name: 'minus zero',
    how: 'a reducer leaves `-0` in its state',
    caught: [['no difference', undefined, 'one byte form']],
    broken: async () => sameBytes(await stateAfter(left(-0), ['x']), await stateAfter(left(0), ['x']), 'one byte form'),
    sound: () => never(stateAfter(left(0), ['x'])),
  },
  {
    group: 'illegal values',
    name: 'undefined',
    how: 'a key whose value is `undefined`',
    caught: [['no difference', undefined, 'no key']],
    broken: async () => sameBytes(await stateAfter(left({ a: undefined }), ['x']), { it: {} }, 'no key'),
    sound: () => never(stateAfter(left({}), ['x'])),
  },
  {
    group: 'illegal values',
    name: 'an alias',
    how: 'the same object in two places of a state; a later event changes it in one',
    caught: [['no difference', undefined, 'one place changed']],
    broken: async () => {
      const events = ['begin', 'end'];
      const both = await Promise.all([
        stateAfter(
          aliased((task) => task),
          events,
        ),
        stateAfter(aliased(copied), events),
      ]);
      return sameBytes(...both, 'one place changed, live and in every replay');
    },
    sound: () => never(stateAfter(aliased(copied), ['begin', 'end'])),
  },
  {
    group: 'illegal values',
    name: 'a shared payload',
    how: 'two cells get the same object; the first receiver changes it',
    caught: [
      ['no difference', undefined, 'each delivery has a copy of its own'],
      ['no difference', undefined, 'the journal holds what was sent'],
    ],
    broken: async () => {
      const { second, told } = await afterSharing((payload) => payload);
      const sent = { it: { n: 1 } };
      return [
        ...sameBytes(second, sent, 'each delivery has a copy of its own'),
        ...sameBytes(told, [sent, sent], 'the journal holds what was sent'),
      ];
    },
    sound: () => never(afterSharing(copied)),
  },
  {
    group: 'illegal values',
    name: 'a throw half-way',
    how: 'a reducer throws after it has written a part',
    caught: [
      ['request', 'delivery_faulted', 'fault `threw`'],
      ['no difference', undefined, 'the state is what it was'],
    ],
    broken: () => halfWay('throw'),
    sound: () => halfWay('well'),
  },
  {
    group: 'illegal values',
    name: 'a schema that changes what it takes',
    how: 'an event’s schema with a transform: the recorded value would be changed again in every replay',
    caught: [['definition', 'invalid_schema', '$.field: pipe is not part of journaled schemas']],
    broken: () => caughtBy('definition', defined(z.int().transform((n) => n * 100))),
    sound: () => caughtBy('definition', defined(z.int())),
  },
  {
    group: 'illegal values',
    name: 'a default that is computed',
    how: 'a field’s default is a function: another value in every replay',
    caught: [['definition', 'invalid_schema', '$.field: the default differs each time']],
    broken: () => caughtBy('definition', defined(z.int().default(() => Math.random()))),
    sound: () => caughtBy('definition', defined(z.int().default(5))),
  },
];

function copied(value: object): object {
  return JSON.parse(JSON.stringify(value)) as object;
}

async function defined(field: z.ZodType): Promise<void> {
  defineReducer({
    name: 'values/Cell@1',
    state: z.strictObject({}),
    events: { 'values/Told@1': creates(z.strictObject({ field })) },
    init: () => ({}),
    reduce: () => undefined,
  });
}

/** Everything that has no byte form, or two. */
export const ILLEGAL_VALUES: readonly Row[] = [...illegalRows, ...lawRows];
