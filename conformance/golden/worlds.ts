/**
 * The golden worlds: fixed requests, a fixed clock, fixed chance and scripted adapters, so that each has one head.
 * Another implementation that claims these semantics must come to the same; so must every release of this one, on
 * every supported runtime, in every time zone and language.
 */
import { createHash } from 'node:crypto';
import { type Address, formatAddress, Ref, type Value } from '@reprise/contracts';
import {
  type App,
  type ContentReader,
  encode,
  getBytes,
  getValue,
  memory,
  type OpenKernelWorldOptions,
  type Store,
  toHex,
  verifyStore,
  worldAt,
} from '@reprise/kernel';
import { saveWorld, seededRandom, VirtualClock } from '@reprise/testkit';
import { counterWorld } from './counter-world.js';
import { planWorld } from './plan-world.js';
import { sessionWorld } from './session-world.js';

/** The pinned results of a golden world. */
export interface Golden {
  /** The chain digest after the last frame. */
  readonly head: string;
  readonly frames: number;
  readonly records: number;
  readonly blobs: number;
  /** The sha-256 of the whole world as bytes. */
  readonly world: string;
  /** Cell → the sha-256 of its state's canonical bytes. */
  readonly states: Readonly<Record<string, string>>;
}

/** The results of a golden world: the pinned ones, and those for the models. */
export interface Outcome extends Golden {
  readonly values: Readonly<Record<string, Value>>;
  /** Linked values in place of links. */
  readonly logs: Readonly<Record<string, readonly unknown[]>>;
}

/** The parts that make a world repeatable. */
export type Fixed = Required<Pick<OpenKernelWorldOptions, 'store' | 'clock' | 'random'>> & {
  readonly clock: VirtualClock;
};

/** A golden world: how it is run, and which results are read at the end. */
export interface GoldenWorld {
  readonly name: string;
  /** Runs it and closes it. */
  run(fixed: Fixed): Promise<void>;
  readonly app: App;
  readonly cells: readonly Address[];
  readonly logs: readonly (readonly [Address, string])[];
}

/** Every golden world. */
export const GOLDEN_WORLDS: readonly GoldenWorld[] = [counterWorld, planWorld, sessionWorld];

/** The golden world of a name. */
export function goldenWorld(name: string): GoldenWorld {
  const world = GOLDEN_WORLDS.find((one) => one.name === name);
  if (world === undefined) throw new Error(`no golden world ${name}`);
  return world;
}

/** Runs a golden world from nothing. */
export async function written(golden: GoldenWorld): Promise<Store> {
  const store = memory();
  const clock = new VirtualClock({ wall: Date.UTC(2026, 0, 1) });
  await golden.run({ store, clock, random: seededRandom(`golden ${golden.name}`) });
  return store;
}

/** Verifies the world in a store and reads its results. */
export async function outcomeOf(golden: GoldenWorld, store: Store): Promise<Outcome> {
  const world = sha256(await saveWorld(store));
  const reader = await store.openReadonly();
  const { head, frames, records, blobs } = await verifyStore(reader, { app: golden.app });
  const end = await worldAt(reader, golden.app, head.seq);
  const values: Record<string, Value> = {};
  const states: Record<string, string> = {};
  for (const cell of golden.cells) {
    const value = (await end.state(cell)) ?? null;
    values[formatAddress(cell)] = value;
    states[formatAddress(cell)] = sha256(encode(value));
  }
  const logs: Record<string, unknown[]> = {};
  for (const [cell, log] of golden.logs) {
    const items: unknown[] = [];
    for await (const item of end.log(cell, log)) items.push(await followed(item, reader.content));
    logs[`${formatAddress(cell)} ${log}`] = items;
  }
  await reader.close();
  return { head: head.digest, frames, records, blobs, world, states, values, logs };
}

/** Runs a golden world and reads its results. */
export async function replay(golden: GoldenWorld): Promise<Outcome> {
  return outcomeOf(golden, await written(golden));
}

/** The pinned part of an outcome. */
export function pinned({ head, frames, records, blobs, world, states }: Golden): Golden {
  return { head, frames, records, blobs, world, states };
}

/** The sha-256 of bytes, as hex. */
export function sha256(bytes: Uint8Array): string {
  return toHex(new Uint8Array(createHash('sha256').update(bytes).digest()));
}

/** A value with the content of its links in their place. */
async function followed(value: Value, content: ContentReader): Promise<unknown> {
  if (value instanceof Ref) {
    if (value.kind === 'value') return followed(await getValue(content, value), content);
    return new TextDecoder().decode(await getBytes(content, value));
  }
  if (Array.isArray(value)) return Promise.all(value.map((item: Value) => followed(item, content)));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(async ([key, field]) => [key, await followed(field, content)] as const);
  return Object.fromEntries(await Promise.all(fields));
}
