/** The desk of an app: a cell that answers the calls of owner tools, for sessions whose owner passes them on. */
import type { Address } from '@reprise/contracts';
import * as schema from '@reprise/contracts/schema';
import { creates, defineReducer } from '@reprise/kernel/define';
import { type OwnerCall, ownerCall } from '../../src/contracts/index.js';
import type { WorldPart } from '../../src/index.js';

/** The cell; `test/Open@1` makes it. */
export const DESK: Address = ['test/Desk@1', 'desk'];

/** A desk that asks another party about each call, and says so. */
export const parkingDesk = defineReducer({
  name: DESK[0],
  state: schema.strictObject({}),
  events: { 'test/Open@1': creates(schema.strictObject({})), 'aos.agent/OwnerCall@1': ownerCall },
  init: () => ({}),
  reduce(_, event, ctx) {
    const [reducer, key] = ctx.sender ?? [];
    if (event.name === 'test/Open@1' || reducer === undefined || key === undefined) return;
    const { session, call_id, step_epoch } = event.value as OwnerCall;
    ctx.send([reducer, key], { name: 'aos.agent/OwnerParked@1', value: { session, call_id, step_epoch } });
  },
});

/** The part of a world in which a desk and the owner of sessions may write to each other. */
export function officeOf(desk: NonNullable<WorldPart['reducers']>[number], owner: string): WorldPart<undefined> {
  return {
    name: 'office',
    reducers: [desk],
    policy: [
      { send: `${DESK[0]}/*`, who: `cell:${owner}/*`, decision: 'allow' },
      { send: `${owner}/*`, who: `cell:${DESK[0]}/*`, decision: 'allow' },
    ],
    handle: () => undefined,
  };
}
