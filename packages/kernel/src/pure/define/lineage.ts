/**
 * Finds the definition for a name when definitions replace one another.
 *
 * Invariants
 * N1  A cell keeps its address for ever. Its reducer part is the oldest name of the chain; every later name of the
 *     chain means the same cell.
 * N2  In one app one definition answers for a name. `defineApp` refuses two.
 */
import type { Address, Value } from '@reprise/contracts';
import { RepriseError } from '@reprise/contracts';
import type { App } from './app.js';
import { requireDefinitions, requireFunction, requireObject, requireOwnName } from './parts.js';
import type { PlanDefinition } from './plan.js';
import type { ReducerDefinition } from './reducer.js';

/** An earlier version of a reducer, and how its states are turned into those of the next. */
export interface Forebear {
  readonly name: string;
  /** The earlier definition, when the author still has it: its records can be replayed. */
  readonly definition?: ReducerDefinition;
  /** Turns a state of this version into one of the next. Pure; the argument is its own copy. */
  migrate(state: Value): unknown;
}

/** How a reducer migrates from an earlier version. */
export interface Migrates<S> {
  /**
   * The earlier version: its name or, better, its definition, which brings its own earlier versions and lets
   * its records be replayed.
   */
  readonly from: string | ReducerDefinition;
  /** Turns a state of that version into one of this. Pure. */
  state(old: Value): S;
}

/** A plan that another has replaced. */
export interface Replaced {
  readonly name: string;
  readonly definition?: PlanDefinition;
}

/** The versions before this one, oldest first. */
export function forebearsOf(name: string, migrates: Migrates<unknown> | undefined): readonly Forebear[] {
  if (migrates === undefined) return [];
  requireObject(migrates, `migrates of ${name}`);
  requireFunction(migrates.state, `migrates.state of ${name}`);
  const { from, state } = migrates;
  const migrate = (old: Value): unknown => state(old);
  if (typeof from === 'string') {
    requireOwnName(from, `what ${name} migrates from`);
    return distinct(name, [{ name: from, migrate }]);
  }
  requireDefinitions([from], 'reducer', `migrates.from of ${name}`);
  return distinct(name, [...(from.lineage ?? []), { name: from.name, definition: from, migrate }]);
}

/** The plans before this one, oldest first. */
export function replacedBy(name: string, replaces: string | PlanDefinition | undefined): readonly Replaced[] {
  if (replaces === undefined) return [];
  if (typeof replaces === 'string') {
    requireOwnName(replaces, `what ${name} replaces`);
    return distinct(name, [{ name: replaces }]);
  }
  requireDefinitions([replaces], 'plan', `replaces of ${name}`);
  return distinct(name, [...(replaces.replaces ?? []), { name: replaces.name, definition: replaces }]);
}

function distinct<T extends { readonly name: string }>(name: string, chain: readonly T[]): readonly T[] {
  const names = [...chain.map((one) => one.name), name];
  if (new Set(names).size === names.length) return Object.freeze(chain);
  throw new RepriseError('invalid_definition', `${name} migrates from itself (cycle)`, {
    actual: names.join(' → '),
    hint: 'Give the new version a name of its own: namespace/Name@2.',
  });
}

/** The reducer that handles the cells of this name now, whichever version of the name is given. */
export function reducerFor(app: App, name: string): ReducerDefinition | undefined {
  return app.reducers.get(name) ?? heirsOf(app).reducers.get(name);
}

/** The plan that an intent of this name starts now. */
export function planFor(app: App, name: string): PlanDefinition | undefined {
  return app.plans.get(name) ?? heirsOf(app).plans.get(name);
}

/** The name under which a reducer's cells are kept: the oldest of its chain. */
export function cellName(app: App, name: string): string {
  return reducerFor(app, name)?.lineage?.[0]?.name ?? name; // N1
}

/** The address under which a cell is kept, whichever version of its reducer's name is given. */
export function cellAddress(app: App, [name, key]: Address): Address {
  return [cellName(app, name), key];
}

/**
 * A cell by the definition of its reducer: what is read from it and sent to it has the definition's types.
 *
 * @example const state = await world.state([counter, 'a'])
 */
export type CellOf<S = unknown, R = { readonly name: string; readonly value: unknown }> = readonly [
  reducer: ReducerDefinition<S, R>,
  key: string,
];

/**
 * The address of a cell that is given by its address or by its reducer's definition. Anything else is returned as it
 * is, for the check of addresses to refuse.
 *
 * @throws RepriseError `unknown_reducer` when the app has another definition, or none, of that name
 */
export function addressOf(app: App, cell: Address | CellOf): Address {
  const [reducer, key]: readonly unknown[] = Array.isArray(cell) ? cell : [];
  if (typeof reducer !== 'object' || reducer === null || !('digest' in reducer)) return cell as Address;
  const { name, digest } = reducer as ReducerDefinition;
  if (app.reducers.get(name)?.digest === digest) return [name, key as string];
  throw new RepriseError('unknown_reducer', `the app has no such definition of ${name}`, {
    expected: [...app.reducers.keys()].join(', '),
    actual: app.reducers.has(name) ? 'another definition of the same name' : name,
    hint: "Give the definition with which the world was opened, or the cell's address.",
  });
}

/** Earlier names and the definitions that answer for them now. */
interface Heirs {
  readonly reducers: ReadonlyMap<string, ReducerDefinition>;
  readonly plans: ReadonlyMap<string, PlanDefinition>;
}

const known = new WeakMap<App, Heirs>();

/**
 * The definitions that answer for earlier names.
 *
 * @throws RepriseError `duplicate_definition` when two definitions answer for one name
 */
export function heirsOf(app: App): Heirs {
  let heirs = known.get(app);
  if (heirs === undefined) {
    heirs = { reducers: heirsAmong(app.reducers, 'lineage'), plans: heirsAmong(app.plans, 'replaces') };
    known.set(app, heirs);
  }
  return heirs;
}

type Chained<K extends string> = { readonly name: string } & {
  readonly [k in K]?: readonly { readonly name: string }[];
};

function heirsAmong<K extends string, T extends Chained<K>>(all: ReadonlyMap<string, T>, chain: K): Map<string, T> {
  const heirs = new Map<string, T>();
  for (const heir of all.values()) {
    for (const { name } of heir[chain] ?? []) {
      const other = heirs.get(name) ?? (all.has(name) ? all.get(name) : undefined);
      if (other !== undefined) throw claimedTwice(name, heir.name, other.name);
      heirs.set(name, heir);
    }
  }
  return heirs;
}

function claimedTwice(name: string, heir: string, other: string): RepriseError {
  const both =
    name === other
      ? `${heir} migrates from ${name}, and the app has both`
      : `${heir} and ${other} both migrate from ${name}`;
  return new RepriseError('duplicate_definition', both, {
    hint: 'List only the newest version. To replay older eras, give the earlier app as `legacy`.',
  });
}
