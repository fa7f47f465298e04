/** Teams whose cells fail where a test says so, also those of the parts that a team uses. */

import type { ReducerDefinition } from 'reprise/kernel';
import type { WorldPart } from 'reprise/org';

/** A delivery, as a defect sees it. */
export interface Delivered {
  readonly reducer: string;
  readonly key: string;
  readonly event: string;
  readonly value: unknown;
}

/** The part with a defect: a cell throws at each delivery that the test names. The parts that it uses stay one part each. */
export function defective<P extends WorldPart>(part: P, isDefect: (delivered: Delivered) => boolean): P {
  const known = new Map<WorldPart, WorldPart>();
  const planted = <T extends WorldPart>(one: T): T => {
    const uses = (one.uses ?? []).map((used) => {
      const made = known.get(used) ?? planted(used);
      known.set(used, made);
      return made;
    });
    return { ...one, uses, reducers: (one.reducers ?? []).map((reducer) => failing(reducer, isDefect)) };
  };
  return planted(part);
}

function failing(reducer: ReducerDefinition, isDefect: (delivered: Delivered) => boolean): ReducerDefinition {
  const reduce: typeof reducer.reduce = (draft, event, ctx) => {
    const { name, value } = event;
    if (isDefect({ reducer: reducer.name, key: ctx.address[1], event: name, value })) throw new Error('a defect');
    return reducer.reduce(draft, event, ctx);
  };
  return { ...reducer, reduce };
}

/** The reducers of a part and of all that it uses, each once. */
export function reducersOf(part: WorldPart): readonly ReducerDefinition[] {
  const all = new Map<string, ReducerDefinition>();
  const collect = ({ reducers = [], uses = [] }: WorldPart): void => {
    for (const one of reducers) all.set(one.name, one);
    for (const used of uses) collect(used);
  };
  collect(part);
  return [...all.values()];
}
