/**
 * The golden worlds: fixed requests, a fixed clock, fixed chance and scripted adapters, so that each has one head.
 * Another implementation that claims these semantics must come to the same; so must every release of this one, on
 * every supported runtime, in every time zone and language.
 */
import { createHash } from 'node:crypto';
import { type Address, formatAddress, type Value } from '@reprise/contracts';
import { encode, memory, type OpenWorldOptions, type openWorld, toHex, verifyStore, type World } from '@reprise/kernel';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { counterWorld } from './counter-world.js';
import { planWorld } from './plan-world.js';
import { sessionWorld } from './session-world.js';

/** What a golden file pins. */
export interface Golden {
  /** The chain digest after the last frame. */
  readonly head: string;
  readonly frames: number;
  readonly records: number;
  readonly blobs: number;
  /** Cell → the sha-256 of its state's canonical bytes. */
  readonly states: Readonly<Record<string, string>>;
}

/** What a golden world came to: what is pinned, and what models are asked of. */
export interface Outcome extends Golden {
  readonly values: Readonly<Record<string, Value>>;
  readonly logs: Readonly<Record<string, readonly Value[]>>;
}

/** The parts that make a world repeatable. */
export type Fixed = Required<Pick<OpenWorldOptions, 'store' | 'clock' | 'random'>> & { readonly clock: VirtualClock };

/** A golden world: how it is run, and what is read of it in the end. */
export interface GoldenWorld {
  readonly name: string;
  /** Runs it and closes it; `look` is called before that. */
  run(fixed: Fixed, look: (world: World) => Promise<void>): Promise<void>;
  readonly app: Parameters<typeof openWorld>[0]['app'];
  readonly cells: readonly Address[];
  readonly logs: readonly (readonly [Address, string])[];
}

/** Every golden world. */
export const GOLDEN_WORLDS: readonly GoldenWorld[] = [counterWorld, planWorld, sessionWorld];

/** Runs a golden world from nothing and verifies what it wrote. */
export async function perform(golden: GoldenWorld): Promise<Outcome> {
  const store = memory();
  const clock = new VirtualClock({ wall: Date.UTC(2026, 0, 1) });
  const values: Record<string, Value> = {};
  const logs: Record<string, readonly Value[]> = {};
  await golden.run({ store, clock, random: seededRandom(`golden ${golden.name}`) }, async (world) => {
    for (const cell of golden.cells) values[formatAddress(cell)] = (await world.state(cell)) ?? null;
    for (const [cell, log] of golden.logs) {
      const items: Value[] = [];
      for await (const item of world.log(cell, log)) items.push(item);
      logs[`${formatAddress(cell)} ${log}`] = items;
    }
  });
  const { head, frames, records, blobs } = await verifyStore(await store.openReadonly(), { app: golden.app });
  const states = Object.fromEntries(Object.entries(values).map(([cell, value]) => [cell, digestOf(value)]));
  return { head: head.digest, frames, records, blobs, states, values, logs };
}

/** What of an outcome is pinned. */
export function pinned({ head, frames, records, blobs, states }: Golden): Golden {
  return { head, frames, records, blobs, states };
}

function digestOf(value: Value): string {
  return toHex(new Uint8Array(createHash('sha256').update(encode(value)).digest()));
}
