/** A society whose entities can be made to fail: their cells then take no events until they are revived. */
import type { AgentWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import { type SocietyOptions, society } from 'reprise/society';

const ENTITY = 'society/Entity@1';
const FAIL = 'test_fail';

/** The society, with a call by which an entity fails. */
export function failingSociety(options: SocietyOptions = {}): ReturnType<typeof society> {
  const part = society(options);
  const reducers = (part.reducers ?? []).map((one) => (one.name === ENTITY ? failing(one) : one));
  return { ...part, reducers };
}

/** Has the cell of an entity fail, as a defect of its reducer would. */
export async function failEntity(world: AgentWorld, id: string): Promise<void> {
  const value = { call_id: `${FAIL} ${crypto.randomUUID()}`, name: FAIL, args: {} };
  await world.kernel.request([ENTITY, id], { name: 'society/Call@1', value });
}

/** The call has the cell send itself an event of its own that has nothing to do: no other is sent so. */
function failing(reducer: ReducerDefinition): ReducerDefinition {
  return {
    ...reducer,
    reduce: (draft, event, ctx) => {
      const { name } = event.value as { readonly name?: string };
      if (event.name === 'society/Call@1' && name === FAIL)
        return ctx.send(ctx.address, { name: 'org/Rest@1', value: {} });
      if (event.name === 'org/Rest@1' && ctx.table('rest').size === 0) throw new Error('a defect of this test');
      return reducer.reduce(draft, event, ctx);
    },
  };
}
