/** What changed between two frames of random worlds, applied to the first, gives the second. */

import type { WorldPart } from '@reprise/agent';
import { type Address, formatAddress, parseAddress, type Value } from '@reprise/contracts';
import { readFrame, reducerFor, type WorldAt, worldAt } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { compareHistories, type Histories, type Pair, type Place, plain } from '../../cli/test/views/histories.js';
import { TEAMS } from '../../cli/test/views/teams.js';
import { type CellDiff, diffOf, type Patch } from '../src/diff/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const PLACES = process.env.REPRISE_VIEWS === undefined ? 6 / stepOf(3) : 600;

function diffsOf<P extends WorldPart>({ part, answer, act }: Histories<P>): Histories<P> {
  return { part, answer, act, look: compareDiffs };
}

async function compareDiffs({ store, draw, app, at }: Place<WorldPart>): Promise<readonly Pair[]> {
  const a = draw(at.head.seq + 1);
  const before = await worldAt(store, app, a);
  const { cells, next } = await diffOf(store, { app }, { a, b: at.head.seq }, { limit: 10_000 });
  const pairs: Pair[] = [['the next page', next, null]];
  const changes = new Map(cells.map((one) => [one.cell, one]));
  for (const address of await cellsOf(store, at.head.seq)) {
    const name = formatAddress(address);
    const found = changes.get(name);
    pairs.push([
      `${name} since ${a}`,
      patched(await before.state(address), found?.patches ?? []),
      await at.state(address),
    ]);
    for (const table of reducerFor(app, address[0])?.tables.keys() ?? [])
      pairs.push([
        `${table} of ${name} since ${a}`,
        withChanges(await tableOf(before, address, table), found, table),
        await tableOf(at, address, table),
      ]);
    for (const log of reducerFor(app, address[0])?.logs.keys() ?? []) {
      const [from, to] = [await lengthOf(before, address, log), await lengthOf(at, address, log)];
      logs += Number(from !== to);
      pairs.push([`${log} of ${name} since ${a}`, found?.logs[log], from === to ? undefined : { from, to }]);
    }
  }
  return pairs;
}

/** The logs that had grown, so that a law of none would be seen. */
let logs = 0;

/** The length of a log, item by item. */
async function lengthOf(at: WorldAt, address: Address, log: string): Promise<number> {
  let length = 0;
  for await (const _ of at.log(address, log)) length++;
  return length;
}

/** A value with patches applied: written here anew, from what the patches mean. */
function patched(value: Value | undefined, patches: readonly Patch[]): unknown {
  let root = structuredCloneOf(value);
  for (const { op, path, before, value: put } of patches) {
    const last = path.at(-1);
    const was = path.reduce<unknown>((at, key) => (at as Record<string | number, unknown> | undefined)?.[key], root);
    expect(plain(before), path.join('.')).toEqual(was);
    if (last === undefined) {
      root = op === 'remove' ? undefined : plain(put);
      continue;
    }
    const parent = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], root);
    if (op !== 'remove') (parent as Record<string | number, unknown>)[last] = plain(put);
    else if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete (parent as Record<string | number, unknown>)[last];
  }
  return root;
}

function structuredCloneOf(value: Value | undefined): unknown {
  return plain(value);
}

function withChanges(entries: readonly [string, Value][], found: CellDiff | undefined, table: string): unknown {
  const all = new Map(entries);
  for (const { op, key, value } of found?.tables[table] ?? []) {
    if (op === 'remove') all.delete(key);
    else all.set(key, value as Value);
  }
  return [...all].sort(([one], [other]) => (one < other ? -1 : 1));
}

async function tableOf(at: WorldAt, address: Address, table: string): Promise<[string, Value][]> {
  const all: [string, Value][] = [];
  for (;;) {
    const last = all.at(-1)?.[0];
    const page = await at.table(address, table, last === undefined ? {} : { after: last });
    if (page.length === 0) return all.sort(([one], [other]) => (one < other ? -1 : 1));
    all.push(...page);
  }
}

/** The cells that a journal sent an event to. */
async function cellsOf(store: Place['store'], last: number): Promise<readonly Address[]> {
  const names = new Set<string>();
  for await (const { seq, bytes } of store.journal.read(0, last))
    for (const record of readFrame(bytes, seq).all)
      if (record.kind === 'event' || record.kind === 'request') names.add(formatAddress(record.to));
  return [...names].map(parseAddress);
}

describe(`what changed between two frames (seed ${SEED})`, () => {
  it('given random teams that act, die and are opened again, when what changed since a frame is applied to the states of that frame, then they are the states of now', async () => {
    const { differences, places } = await compareHistories(diffsOf(TEAMS), { places: PLACES, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES);
    expect(logs).toBeGreaterThan(0);
  });
});
