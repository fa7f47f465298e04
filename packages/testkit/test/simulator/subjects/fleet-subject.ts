/**
 * A world that several machines take over from each other, and whose store may fall back behind what was acknowledged: a
 * payment for each request, at most once, and a bell for each, which rings. Clients repeat each request at whatever process
 * they find, so that two owners make the same frame.
 */
import type { Address } from '@reprise/contracts';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  type Head,
  isRepriseError,
  memory,
  openKernelWorld,
  type ReadonlyStore,
  type Store,
  type World,
} from '@reprise/kernel';
import type { CrashableStore, SimulationSubject } from '@reprise/testkit/simulator';
import * as z from 'zod';

const pay = defineEffect({
  kind: 'fleet.pay@1',
  params: z.strictObject({ n: z.int() }),
  receipt: z.strictObject({ paid: z.int() }),
  guarantee: 'at_most_once',
});
const paying = definePlan({
  name: 'fleet/paying@1',
  input: z.strictObject({ n: z.int() }),
  effects: [pay],
  *run({ n }, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(pay, { n }));
    plan.raiseEvent({ name: 'fleet/Paid@1', value: { status } });
  },
});
const till = defineReducer({
  name: 'fleet/Till@1',
  state: z.strictObject({ asked: z.int(), paid: z.int(), rung: z.int() }),
  events: {
    'fleet/Asked@1': creates(z.strictObject({})),
    'fleet/Paid@1': z.strictObject({ status: z.string() }),
    'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
  },
  init: () => ({ asked: 0, paid: 0, rung: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'fleet/Paid@1') draft.paid++;
    else if (event.name === 'sys/TimerFired@1') draft.rung++;
    else {
      const n = ++draft.asked;
      ctx.emit({ plan: paying, input: { n } });
      ctx.timer(`bell${n}`, ctx.now + BELL_MS);
    }
  },
});
const app = defineApp({ reducers: [till], plans: [paying] });

const TILL: Address = ['fleet/Till@1', 'a'];
const BELL_MS = 20;

/** Once in so many openings at which nobody else has the store, it has fallen back. */
const FALLS_BACK_ONCE_IN = 6;

const FELL_BACK = 'a store that fell back was refused';
const QUARANTINED = 'an input was quarantined';

/** What a run is made on, and what a mutant does otherwise. */
export interface FleetOptions {
  /** Makes the store of a run; memory when absent. */
  readonly store?: () => CrashableStore;
  /** Around the store that a process opens. */
  readonly wrap?: (store: Store) => Store;
  /** Opens without the head that was seen last. */
  readonly forgets?: true;
}

/** The fleet as a subject, or a mutant of it. */
export function fleetSubject({ store = memory, wrap = (one) => one, forgets }: FleetOptions = {}): SimulationSubject {
  let platter = new FallingStore(store());
  return {
    name: 'fleet',
    app,
    sometimes: [FELL_BACK],
    store: () => {
      platter = new FallingStore(store());
      return platter;
    },
    begin(run) {
      const own = platter;
      const worlds: World[] = [];
      const open = async (...[process, kept]: Parameters<ReturnType<SimulationSubject['begin']>['open']>) => {
        const seen = newest(worlds);
        own.putBack(); // the process that found it older may have died
        if (seen !== undefined && own.isFree && run.choices.once(FALLS_BACK_ONCE_IN))
          await own.fallBack(run.choices.below(seen.seq));
        const opening = () =>
          openKernelWorld({
            store: wrap(kept),
            app,
            clock: process.clock,
            random: run.random,
            adapters: [run.outside.adapter(process, pay, { payload: ({ n }) => ({ paid: n }) })],
            ...(seen === undefined || forgets === true ? {} : { expectHead: seen }),
          });
        const world = await opening().catch((thrown: unknown) => {
          own.putBack();
          if (!own.hasFallen || !isRepriseError(thrown, 'head_mismatch')) throw thrown;
          run.sometimes.happened(FELL_BACK);
          return opening();
        });
        worlds.push(world);
        return world;
      };
      const unanswered = new Set<string>();
      let n = 0;
      const nextId = (): string => {
        const again = unanswered.size === 0 || run.choices.once(3) ? undefined : run.choices.pick([...unanswered]);
        return again ?? `q${n++}`;
      };
      return {
        open,
        acts: [
          {
            name: 'asks',
            weight: 1,
            execute: async (world) => {
              const id = nextId();
              unanswered.add(id);
              const asked = { name: 'fleet/Asked@1', value: {} };
              const answer = await run.clients.ask({ id }, () => world.request(TILL, asked, { id }));
              if (!isRepriseError(answer)) unanswered.delete(id);
            },
          },
        ],
        read: ([ingress]) => {
          if (ingress !== undefined && 'quarantined' in ingress) run.sometimes.happened(QUARANTINED);
        },
        check: async (world) => {
          const state = await world.state(TILL);
          const { asked = 0, paid = 0, rung = 0 } = (state ?? {}) as { asked?: number; paid?: number; rung?: number };
          if (paid !== asked) throw new Error(`${asked} payments were asked for, and ${paid} have ended`);
          if (rung > asked) throw new Error(`${asked} bells were set, and ${rung} have rung`);
        },
      };
    },
  };
}

/** The last head that a process has seen. */
function newest(worlds: readonly World[]): Head | undefined {
  return worlds
    .map(({ head }) => head)
    .reduce<Head | undefined>((a, b) => (a === undefined || b.seq > a.seq ? b : a), undefined);
}

/** A store that can fall back to an earlier frame, and be put back. */
class FallingStore implements CrashableStore {
  #newest: CrashableStore;
  #now: CrashableStore;
  #users = 0;
  /** Whether it was ever behind: another process may have opened it then. */
  hasFallen = false;

  constructor(store: CrashableStore) {
    this.#newest = store;
    this.#now = store;
  }

  get label(): string {
    return this.#newest.label;
  }

  /** Whether nobody has it open. */
  get isFree(): boolean {
    return this.#users === 0;
  }

  async open() {
    const open = await this.#now.open();
    this.#users++;
    const close = async (): Promise<void> => {
      this.#users--;
      await open.close();
    };
    return { ...open, close };
  }

  openReadonly(): Promise<ReadonlyStore> {
    return this.#newest.openReadonly();
  }

  /** Loses all frames from this one on. */
  async fallBack(from: number): Promise<void> {
    const older = memory();
    const [reader, open] = [await this.#newest.openReadonly(), await older.open()];
    for await (const link of reader.content.list()) {
      const bytes = await reader.content.get(link);
      if (bytes !== undefined) await open.content.put(bytes);
    }
    const frames = [];
    for await (const frame of reader.journal.read(0)) if (frame.seq < from) frames.push(frame);
    if (frames.length > 0) await open.journal.append(frames, await open.journal.head());
    await Promise.all([open.close(), reader.close()]);
    this.#now = older;
    this.hasFallen = true;
  }

  /** The newest copy is put back. */
  putBack(): void {
    this.#now = this.#newest;
  }
}
