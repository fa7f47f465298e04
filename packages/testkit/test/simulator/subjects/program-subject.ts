/**
 * Cells and plans that execute whatever program they are given, under the simulator: nasty states, logs and tables,
 * timers, cascades beyond a frame, plans that wait for any and all with deadlines, effects of every guarantee.
 */
import type { Address, Value } from '@reprise/contracts';
import { openKernelWorld, type World } from '@reprise/kernel';
import type { SimulationSubject } from '@reprise/testkit/simulator';
import fc from 'fast-check';
import { quickMemory } from '../../../../../conformance/quick-memory.js';
import {
  anyReducerProgram,
  PROGRAM_CELLS,
  PROGRAM_EVENTS,
  programApp,
  programEffects,
  type ReducerOp,
} from '../../../src/arbitraries/index.js';

/** As many as anybody wants to tell apart; the one with number 0 is as good as any. */
const PROGRAMS = 1 << 30;

const anyProgram = anyReducerProgram({ opsMax: 4, depth: 2 });

/** Something that was asked for. */
interface Asked {
  readonly id: string;
  readonly to: Address;
  readonly event: { readonly name: string; readonly value: { readonly ops: Value; readonly payload: Value } };
}

/** Worlds of programs. */
export const programSubject: SimulationSubject = {
  name: 'programs',
  app: programApp,
  store: quickMemory,
  sometimes: [
    'the outside was asked what happened: happened',
    'the outside was asked what happened: cannot_happen',
    'the outside was asked what happened: unknown',
    'refused: delivery_faulted',
    'refused: cell_failed',
  ],
  begin({ choices, clients, outside, random }) {
    const asked: Asked[] = [];
    const ask = (world: World, { id, to, event }: Asked) => clients.ask({ id }, () => world.request(to, event, { id }));
    const anew = (): Asked => {
      const ops = programOf(choices.below(PROGRAMS)) as unknown as Value;
      const name = choices.once(3) ? PROGRAM_EVENTS.ran : PROGRAM_EVENTS.made;
      const one = {
        id: `p${asked.length}`,
        to: choices.pick(PROGRAM_CELLS),
        event: { name, value: { ops, payload: null } },
      };
      asked.push(one);
      return one;
    };
    return {
      open: (process, store) => {
        const adapters = Object.values(programEffects).map((effect) =>
          outside.adapter(process, effect, { payload: () => 'done', concurrency: 3 }),
        );
        const snapshotEvery = choices.pick([0, 5]);
        return openKernelWorld({
          store,
          app: programApp,
          adapters,
          clock: process.clock,
          random,
          recheckEvery: 1,
          snapshotEvery,
        });
      },
      acts: [
        { name: 'asks for a program', weight: 8, execute: (world) => ask(world, anew()) },
        {
          name: 'asks again',
          weight: 2,
          execute: (world) => (asked.length === 0 ? undefined : ask(world, choices.pick(asked))),
        },
        {
          name: 'revives a cell',
          weight: 1,
          execute: (world) => {
            const [id, cell] = [`v${asked.length}-${choices.below(9)}`, choices.pick(PROGRAM_CELLS)];
            return clients.ask({ id }, () => world.revive(cell, { id }));
          },
        },
      ],
    };
  },
};

/** The program of a number. */
function programOf(number: number): readonly ReducerOp[] {
  return fc.sample(anyProgram, { seed: number, numRuns: 1 })[0] as readonly ReducerOp[];
}
