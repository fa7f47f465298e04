/**
 * Mode `snapshots`: what a world shows after each frame is the same whether it is replayed from the newest snapshot or
 * from genesis. A state is every cell with its logs and tables, as bytes.
 */
import assert from 'node:assert/strict';
import { agentApp } from '@reprise/agent';
import type { Address, Value } from '@reprise/contracts';
import {
  encode,
  FRAME_DEPTH_MAX,
  type ReadableJournal,
  type ReadonlyStore,
  readFrame,
  toHex,
  type WorldAt,
  worldAt,
} from '@reprise/kernel';

/** The state after each frame, by its number. */
export type States = ReadonlyMap<number, string>;

/** The part of a store that reading a state of the past needs. */
export type Past = Pick<ReadonlyStore, 'journal' | 'content' | 'hash'>;

/** The states of a world after some frames, each read by a separate replay; of all cells when none are named. */
export async function statesAt(store: Past, seqs: Iterable<number>, some?: readonly Address[]): Promise<States> {
  const cells = some ?? (await cellsOf(store));
  const states = new Map<number, string>();
  for (const seq of seqs) states.set(seq, await stateOf(await worldAt(store, agentApp, seq), cells));
  return states;
}

/** The states of a world after every frame, replayed from genesis. */
export async function statesSinceGenesis(store: Past): Promise<States> {
  const { seq: last } = await store.journal.head();
  return statesAt({ ...store, journal: findingNone(store.journal) }, between(0, last));
}

/** Compares the states after every snapshot of a world with those from genesis. @returns the number of snapshots */
export async function holdSnapshots(store: Past): Promise<number> {
  const genesis = await statesSinceGenesis(store);
  const [snapshots, cells] = [await snapshotsIn(store), await cellsOf(store)];
  for (const [i, seq] of snapshots.entries()) {
    const next = snapshots[i + 1] ?? genesis.size;
    const since = { ...store, journal: beginningAt(store.journal, seq) };
    holdStates(genesis, await statesAt(since, between(seq, next - 1), cells), seq);
  }
  return snapshots.length;
}

/** Compares the states since a snapshot, its own included, with those since genesis. */
export function holdStates(genesis: States, since: States, snapshot: number): void {
  for (const [at, state] of since) {
    assert.ok(state === genesis.get(at), `from the snapshot at ${snapshot} the state after frame ${at} is another`);
  }
}

/** A journal that finds no snapshot: every replay begins at genesis. */
export function findingNone(journal: ReadableJournal): ReadableJournal {
  const findLast: ReadableJournal['findLast'] = async (kind, seq) =>
    kind === 'snapshot' ? undefined : journal.findLast(kind, seq);
  return { ...methodsOf(journal), findLast };
}

/** A journal whose frames before a snapshot can be read one by one only: a replay that begins earlier fails. */
function beginningAt(journal: ReadableJournal, snapshot: number): ReadableJournal {
  const read: ReadableJournal['read'] = (from, to) => {
    assert.ok(from >= snapshot || from === to, `the snapshot at ${snapshot} was not begun at`);
    return journal.read(from, to);
  };
  return { ...methodsOf(journal), read };
}

function methodsOf(journal: ReadableJournal): ReadableJournal {
  return {
    head: () => journal.head(),
    read: (from, to) => journal.read(from, to),
    findKey: (key) => journal.findKey(key),
    findLast: (kind, seq) => journal.findLast(kind, seq),
  };
}

/** The numbers of the snapshots of a world. */
export async function snapshotsIn({ journal }: Past): Promise<number[]> {
  const found: number[] = [];
  for await (const { kind, seq } of journal.read(0)) if (kind === 'snapshot') found.push(seq);
  return found;
}

/** Every cell that an event reached. */
async function cellsOf({ journal }: Past): Promise<Address[]> {
  const cells = new Map<string, Address>();
  for await (const { bytes, seq } of journal.read(0)) {
    for (const record of readFrame(bytes, seq).all) {
      if ('to' in record && Array.isArray(record.to)) cells.set(String(record.to), record.to as unknown as Address);
    }
  }
  return [...cells.values()];
}

async function stateOf(world: WorldAt, cells: readonly Address[]): Promise<string> {
  const all: Value[] = [];
  for (const cell of cells) all.push(await cellOf(world, cell));
  return toHex(encode(all, FRAME_DEPTH_MAX));
}

async function cellOf(world: WorldAt, cell: Address): Promise<Value> {
  const { logs = new Map(), tables = new Map() } = agentApp.reducers.get(cell[0]) ?? {};
  const kept: Value[] = [(await world.state(cell)) ?? null];
  for (const name of logs.keys()) for await (const item of world.log(cell, name)) kept.push([name, item]);
  for (const name of tables.keys()) for (const entry of await world.table(cell, name)) kept.push([name, ...entry]);
  return kept;
}

function* between(from: number, to: number): Generator<number> {
  for (let seq = from; seq <= to; seq++) yield seq;
}
