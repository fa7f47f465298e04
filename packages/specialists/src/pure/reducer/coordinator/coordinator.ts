/** The coordinator's session: it is made with the first input, and has at most one wake under way. */
import { type InputPart, startOfText } from '@reprise/contracts';
import type { Share } from '@reprise/org/contracts';
import { limitOf } from '@reprise/org/contracts';
import { coordinatorOf } from '../../contracts/index.js';
import { type Delivery, teamOf } from '../project/delivery.js';
import { budgetOf, isSpent, takeShare } from '../project/spending.js';

interface CoordinatorInput {
  readonly command_id: string;
  readonly parts: readonly InputPart[];
  readonly priority: number;
  /** Why the project itself sends it; absent for words of people. */
  readonly reason?: string;
}

/** Begins the tags of inputs, whose answer says that the session has taken or refused them. */
export const INPUT_TAG = 'input.';

/** The tag of an adoption, which the session refuses when its cell fails of it. */
export const ADOPTED_TAG = 'adopted';

/** Begins the tag of the first input of a session: it comes with the definition, so one event makes the session. */
export const FIRST_TAG = 'first.';

export function tellCoordinator(delivery: Delivery, { command_id, parts, priority, reason }: CoordinatorInput): void {
  const { state, ctx } = delivery;
  const { coordinator } = state;
  const share = shareOf(delivery);
  const to = coordinatorOf(ctx.address[1]);
  const cause = reason === undefined ? { kind: 'operator' } : { kind: 'app', reason };
  const input = { command_id, parts: [...parts], priority, cause };
  if (coordinator.adopted === null) {
    const labels = { project: ctx.address[1], role: 'coordinator' };
    const value = { ...adoptionOf(delivery, share), depth: 0, tell_owner: true, labels, input };
    ctx.send(to, { name: 'aos.agent/AgentAdopted@1', value }, answered(FIRST_TAG, command_id));
  } else {
    if (coordinator.adopted !== state.version || share !== null) adopt(delivery, share);
    ctx.send(to, { name: 'aos.agent/UserInput@1', value: input }, answered(INPUT_TAG, command_id));
  }
  coordinator.adopted = state.version;
  coordinator.sent++;
}

function answered(begin: string, command_id: string): { readonly reply: true; readonly tag: string } {
  return { reply: true, tag: startOfText(`${begin}${command_id}`, TAG_MAX) };
}

const TAG_MAX = 200;

/**
 * What a run for one more input may use: a share of the budget. When too little is left for one it is as little as there
 * is, so that a person hears that the budget is used up. Shares only fall, and a run has the limit that was adopted last:
 * so what is set aside covers all runs.
 */
function shareOf(delivery: Delivery): Share | null {
  const { shares } = delivery.state.coordinator;
  const budget = budgetOf(delivery);
  if (budget === null) return null;
  const share = isSpent(delivery) ? null : takeShare(delivery);
  shares.push(share?.amount ?? 0);
  return share ?? { unit: budget.unit, amount: 1 };
}

/** A session that stands adopts the coordinator's definition as the team has it now. */
function adopt(delivery: Delivery, share: Share | null): void {
  const { ctx } = delivery;
  const event = { name: 'aos.agent/AgentAdopted@1', value: adoptionOf(delivery, share) };
  ctx.send(coordinatorOf(ctx.address[1]), event, { reply: 'refusal', tag: ADOPTED_TAG });
}

/** The coordinator's definition, with the limit of its next run. */
function adoptionOf(delivery: Delivery, share: Share | null) {
  const { def_ref, config: whole } = teamOf(delivery).coordinator;
  const config = share === null ? whole : { ...whole, limits: { ...whole.limits, [limitOf(share)]: share.amount } };
  return { def_ref, config, adopt: 'next_run', agents: [] };
}

/** Whether nothing of the coordinator is under way. */
export function isIdle({ state: { coordinator } }: Delivery): boolean {
  return !coordinator.busy && coordinator.sent === 0;
}
