/** Plays events to one cell of a fresh world, as often and in as many ways as a law needs. */
import { type Address, isRepriseError, RepriseError } from '@reprise/contracts';
import { type App, encode, memory, openKernelWorld, type Store, toHex, type World } from '@reprise/kernel';
import { LINKED_BYTES } from '../arbitraries/fitting.js';
import { seededRandom, VirtualClock } from '../clock/index.js';
import type { GivenEvent } from '../given/given-reducer.js';
import { declaredSender, RELAY } from './relays.js';

/** The input of a playback. */
export interface Played {
  readonly app: App;
  readonly reducer: string;
  readonly events: readonly GivenEvent[];
  /** Whether each event comes from a sender that it declares; the app has relays then. */
  readonly isRelayed?: boolean;
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
export async function perform({ app, reducer, events, isRelayed }: Played, how: Playing = {}): Promise<Performance> {
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
      const refusal = await refusalOf(played(world, { app, to: [reducer, CELL_KEY], event, n }, isRelayed));
      await clock.advance(BETWEEN_MS);
      await world.pump();
      refusals.push(refusal ?? (await faultOf(world, [reducer, CELL_KEY])));
      const state = await world.state([reducer, CELL_KEY]);
      states.push(state === undefined ? '' : toHex(encode(state)));
    }
    return { store, head: world.head.digest, states, refusals };
  } finally {
    await world.close();
  }
}

/** Sends an event: from outside, or through a cell that its declaration names. */
async function played(world: World, wanted: Parameters<typeof declaredSender>[1], isRelayed = false): Promise<unknown> {
  const { to, event, n } = wanted;
  const id = `event ${n}`;
  const sender = isRelayed ? await declaredSender(world, wanted) : null;
  const relay = { name: RELAY, value: { to, name: event.name, value: event.value } };
  // A sender that cannot be made, since its reducer begins with an event of its own, sends nothing.
  const isSent = sender !== null && (await refusalOf(world.request(sender, relay, { id }))) === undefined;
  return isSent ? undefined : world.request(to, event, { id: `${id} from outside` });
}

/** A cell that fails of an event of another cell answers nobody from outside. */
async function faultOf(world: World, [reducer, key]: Address): Promise<RepriseError | undefined> {
  const failed = (await world.trouble()).find(({ where }) => where?.[0] === reducer && where[1] === key);
  if (failed === undefined) return undefined;
  const code = failed.code === 'nondeterminism' ? 'nondeterminism' : 'delivery_faulted';
  return new RepriseError(code, `the cell failed: ${failed.code}`, { where: `${reducer}/${key}` });
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
