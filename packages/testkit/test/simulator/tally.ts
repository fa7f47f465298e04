/** A small app under the simulator: cells that add and have something done outside. */
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openKernelWorld,
  type Store,
} from '@reprise/kernel';
import * as z from 'zod';
import type { CrashableStore, SimulationSubject } from '../../src/simulator/index.js';

const note = defineEffect({
  kind: 'tally.note@1',
  params: z.strictObject({ n: z.int() }),
  receipt: z.strictObject({ ok: z.boolean() }),
});
const noting = definePlan({
  name: 'tally/noting@1',
  input: z.strictObject({ n: z.int() }),
  effects: [note],
  *run({ n }, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(note, { n }));
    plan.raiseEvent({ name: 'tally/Noted@1', value: { status } });
  },
});
const tally = defineReducer({
  name: 'tally/Tally@1',
  state: z.strictObject({ n: z.int(), noted: z.int() }),
  events: {
    'tally/Added@1': creates(z.strictObject({ by: z.int() })),
    'tally/Noted@1': z.strictObject({ status: z.string() }),
  },
  init: () => ({ n: 0, noted: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'tally/Noted@1') draft.noted++;
    else {
      draft.n += event.value.by;
      if (draft.n % 2 === 0) ctx.emit({ plan: noting, input: { n: draft.n } });
    }
  },
});
const app = defineApp({ reducers: [tally], plans: [noting] });

/** What a mutant does otherwise. */
export interface Mutant {
  readonly store?: () => CrashableStore;
  /** Around the store that a process opens. */
  readonly wrap?: (store: Store) => Store;
  /** Clients send each request again, at whatever process they find. */
  readonly repeats?: boolean;
}

/** The app as a subject, or a mutant of it. */
export function tallySubject({ store = memory, wrap = (one) => one, repeats = false }: Mutant = {}): SimulationSubject {
  return {
    name: 'tally',
    app,
    store,
    begin(run) {
      let n = 0;
      return {
        open: (process, kept) =>
          openKernelWorld({
            store: wrap(kept),
            app,
            clock: process.clock,
            random: run.random,
            adapters: [run.outside.adapter(process, note, { payload: () => ({ ok: true }) })],
          }),
        acts: [
          {
            name: 'adds',
            weight: 1,
            execute: (world) => {
              const nth = n++;
              const [id, by] = repeats ? [`q${nth >> 1}`, 2] : [`q${nth}`, 1 + run.choices.below(3)];
              const added = { name: 'tally/Added@1', value: { by } };
              return run.clients.ask({ id }, () => world.request(['tally/Tally@1', 'a'], added, { id }));
            },
          },
        ],
      };
    },
  };
}
