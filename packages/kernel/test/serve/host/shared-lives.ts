/** Lives of hosts that share a directory: users set timers at any of them, and trouble comes to all but one. */
import type { JournalRecord } from '@reprise/contracts';
import { framesOf } from '../../support/judge.js';
import { wake } from '../../support/lab.js';
import { type HostOnMachine, hostOn, type Machine, SharedPlace } from './machines.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** What happens next: a user sets a timer at a host, or trouble comes to a machine. */
export type Event =
  | { readonly kind: 'visit'; readonly host: number; readonly world: string; readonly inMs: number }
  | { readonly kind: 'die'; readonly host: number }
  | { readonly kind: 'begin'; readonly host: number }
  | { readonly kind: 'stand still' | 'slow'; readonly host: number; readonly ms: number }
  | { readonly kind: 'fail'; readonly host: number; readonly ms: number; readonly how: 'before' | 'after' };

/** An event and the time that passes after it. */
export interface Happening {
  readonly event: Event;
  readonly afterMs: number;
}

/** A timer whose setting was acknowledged. */
interface Promised {
  readonly world: string;
  readonly name: string;
}

/** What became of all timers. */
export interface Outcome {
  readonly promised: readonly Promised[];
  /** Promised timers that did not fire, or more than once. */
  readonly notOnce: readonly string[];
  /** The most that a timer was late, in milliseconds. */
  readonly latest: number;
  /** What a host did that it must not do. */
  readonly wrongs: readonly string[];
  /** What machines did to each other's worlds: how often a world went to another machine. */
  readonly handovers: number;
}

/** The machine with the number 0 meets no trouble of its own: while any host lives, every timer fires. */
const SURVIVOR = 0;
const HOSTS = 3;

/** The wall clocks of the machines differ by this much. */
const SKEW_MS = [0, 700, -400];

/** Lives a life. @param hostOf opens the host of a machine; a mutant opens a broken one */
export async function live(
  happenings: readonly Happening[],
  hostOf: (machine: Machine) => Promise<HostOnMachine> = (machine) => hostOn(machine),
): Promise<Outcome> {
  const place = new SharedPlace();
  const { clock } = place;
  const hosts: HostOnMachine[] = [];
  const promised: Promised[] = [];
  const owners = new Map<string, string>();
  let [handovers, names] = [0, 0];
  const begin = async (n: number): Promise<void> => {
    hosts[n] = await hostOf(place.machine(`m${n}.${names++}`, SKEW_MS[n] ?? 0));
  };
  for (let n = 0; n < HOSTS; n++) await begin(n);
  const act = async (event: Event): Promise<void> => {
    const host = hosts[event.host];
    if (event.kind === 'visit') {
      const name = `t${names++}`;
      void host?.tell(event.world, wake(name, event.inMs)).then(
        () => {
          promised.push({ world: event.world, name });
          const owner = host.machine.name;
          if (owners.has(event.world) && owners.get(event.world) !== owner) handovers++;
          owners.set(event.world, owner);
        },
        () => undefined, // it was refused: nothing was promised
      );
    } else if (host !== undefined && event.host !== SURVIVOR) await trouble(event, host.machine);
  };
  const trouble = async (event: Exclude<Event, { kind: 'visit' }>, machine: Machine): Promise<void> => {
    if (event.kind === 'die') {
      machine.isDead = true;
      machine.goOn();
    } else if (event.kind === 'begin') {
      if (machine.isDead) await begin(event.host);
    } else if (event.kind === 'stand still') machine.standStill(event.ms);
    else {
      machine.slowMs = event.kind === 'slow' ? 150 : machine.slowMs;
      machine.failing = event.kind === 'fail' ? event.how : machine.failing;
      void clock.sleep(event.ms, new AbortController().signal).then(() => {
        machine.slowMs = 0;
        machine.failing = undefined;
      });
    }
  };
  for (const { event, afterMs } of happenings) {
    await act(event);
    await clock.advance(afterMs);
  }
  await clock.advance(20 * MINUTE);
  return { promised, handovers, ...(await judge(place, promised)), wrongs: place.wrongs };
}

async function judge(place: SharedPlace, promised: readonly Promised[]): Promise<Pick<Outcome, 'notOnce' | 'latest'>> {
  const notOnce: string[] = [];
  let latest = 0;
  for (const world of new Set(promised.map((timer) => timer.world))) {
    const fired = await firedOn(place, world);
    for (const { at, due } of fired) latest = Math.max(latest, at - due);
    for (const { name } of promised.filter((timer) => timer.world === world)) {
      const times = fired.filter((timer) => timer.name === name).length;
      if (times !== 1) notOnce.push(`${world} ${name}: ${times} times`);
    }
  }
  return { notOnce, latest };
}

/** The timers that the journal of a world says have fired. */
export async function firedOn(
  place: SharedPlace,
  world: string,
): Promise<readonly { readonly name: string; readonly due: number; readonly at: number }[]> {
  const ingress = (await framesOf(place.store(world).inner)).map(([first]) => first as JournalRecord);
  return ingress.flatMap((record) =>
    record.kind === 'timer' ? [{ name: record.name, due: record.due, at: record.at }] : [],
  );
}
