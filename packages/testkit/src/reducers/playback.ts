/** Plays events to one cell of a fresh world, as often and in as many ways as a law needs. */
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import { type App, encode, memory, openKernelWorld, type Store, toHex, type World } from '@reprise/kernel';
import { LINKED_BYTES } from '../arbitraries/fitting.js';
import { seededRandom, VirtualClock } from '../clock/index.js';
import type { GivenEvent } from '../given/given-reducer.js';

/** The input of a playback. */
export interface Played {
  readonly app: App;
  readonly reducer: string;
  readonly events: readonly GivenEvent[];
}

/** How a world is opened while events are played to it. */
interface Playing {
  /** Executes each frame a second time and compares. */
  readonly twice?: boolean;
  /** Closes the world before each event, and opens it again. */
  readonly reopened?: boolean;
  readonly snapshotEvery?: number;
}

/** The result of a playback. */
export interface Performance {
  readonly store: Store;
  readonly head: string;
  /** The encoded state of the cell after each event, as hex; empty when the cell has no state. */
  readonly states: readonly string[];
  /** Why each event was refused; undefined when it was not. */
  readonly refusals: readonly (RepriseError | undefined)[];
}

/** The cell that gets the events. */
export const CELL_KEY = 'given';

/** The time between two events, so that timers have their turn. */
const BETWEEN_MS = 1_000;

/** Plays events, one after another, and lets the cascades of each end. */
export async function perform({ app, reducer, events }: Played, how: Playing = {}): Promise<Performance> {
  const store = memory();
  const clock = new VirtualClock();
  const random = seededRandom('reducer');
  const open = (): Promise<World> =>
    openKernelWorld({
      store,
      app,
      clock,
      random,
      recheckEvery: how.twice === true ? 1 : 0,
      snapshotEvery: how.snapshotEvery ?? 0,
    });
  let world = await open();
  const states: string[] = [];
  const refusals: (RepriseError | undefined)[] = [];
  try {
    for (const [n, event] of events.entries()) {
      if (how.reopened === true && n > 0) {
        await world.close();
        world = await open();
      }
      await world.content.put(LINKED_BYTES);
      refusals.push(await refusalOf(world.request([reducer, CELL_KEY], event, { id: `event ${n}` })));
      await clock.advance(BETWEEN_MS);
      await world.pump();
      const state = await world.state([reducer, CELL_KEY]);
      states.push(state === undefined ? '' : toHex(encode(state)));
    }
    return { store, head: world.head.digest, states, refusals };
  } finally {
    await world.close();
  }
}

async function refusalOf(asked: Promise<unknown>): Promise<RepriseError | undefined> {
  try {
    await asked;
    return undefined;
  } catch (error) {
    if (isRepriseError(error)) return error;
    throw error;
  }
}
