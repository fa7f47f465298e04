/** A society whose cells fail where a test says so: for any cell, beside the entities that `conformance/society/failing.ts` has fail. */
import type { WorldPart } from '@reprise/agent';
import type { ReducerDefinition } from 'reprise/kernel';
import { society } from 'reprise/society';

/** What a defect sees of a delivery. */
interface Delivery {
  readonly reducer: string;
  readonly event: string;
  readonly state: unknown;
  readonly value: unknown;
}

/** The society with a defect: a cell throws at each delivery that the test names. */
export function defectiveSociety(isDefect: (delivery: Delivery) => boolean): ReturnType<typeof society> {
  const part = society();
  const reducers = (part.reducers ?? []).map((one) => ({
    ...one,
    reduce: (...given: Parameters<ReducerDefinition['reduce']>) => {
      const [state, { name, value }] = given;
      if (isDefect({ reducer: one.name, event: name, state, value })) throw new Error('a defect of this test');
      return one.reduce(...given);
    },
  }));
  return { ...part, reducers };
}

/** The parts that a part uses, with other reducers: each stays one part. */
export function changedUses(
  { uses = [] }: WorldPart,
  change: (reducer: ReducerDefinition) => ReducerDefinition,
  known = new Map<WorldPart, WorldPart>(),
): readonly WorldPart[] {
  return uses.map((used) => {
    const { reducers = [] } = used;
    const one = known.get(used) ?? {
      ...used,
      uses: changedUses(used, change, known),
      reducers: reducers.map(change),
    };
    known.set(used, one);
    return one;
  });
}
