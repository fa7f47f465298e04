/** Rights of a swarm's agents: the swarm made them, so it sets what they compile. */
import type { Capability } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import { entityAt, formatHolder, type SwarmState } from '../contracts/index.js';
import { accountOf } from './accounts.js';
import { rowKeyOf } from './caller.js';
import { recordedSides } from './recorded.js';
import { SET_TAG } from './rights.js';

/** Sets the rights that a member has compiled. */
export function setMemberRights(
  draft: SwarmState,
  {
    rights,
    revision,
    parallel,
  }: {
    readonly rights: { readonly exercise: Capability; readonly grant?: Capability };
    readonly revision: number;
    readonly parallel: number | null;
  },
  ctx: ReducerContext,
): void {
  const id = rowKeyOf(ctx);
  const account = accountOf(id);
  const limits = parallel === null ? {} : { parallel };
  ctx.command('sys/SetAccount@1', { account, parent: draft.account, limits });
  const sides = recordedSides({ exercise: rights.exercise, grant: rights.grant ?? rights.exercise });
  ctx.command(
    'sys/SetRights@1',
    { holder: formatHolder(id), ...sides, account },
    { tag: `${SET_TAG}${id}.${revision}` },
  );
  ctx.send(ctx.address, { name: 'society/RightsSet@1', value: { agent_id: id, revision } });
}

/** Tells a member whether its rights stand. */
export function tellRights(agent_id: string, revision: number, code: string | null, ctx: ReducerContext): void {
  ctx.send(entityAt(agent_id), { name: 'society/RightsStand@1', value: { revision, code } });
}
