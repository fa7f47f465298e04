/** The coordinator's session: it is made with the first input, and has at most one wake under way. */
import { type InputPart, startOfText } from '@reprise/contracts';
import { coordinatorOf, type Share } from '../contracts/index.js';
import { type Delivery, teamOf } from './delivery.js';
import { budgetOf, isSpent, setAside } from './spending.js';

/** An input of the coordinator. */
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

/** Sends an input to the coordinator. */
export function tellCoordinator(delivery: Delivery, { command_id, parts, priority, reason }: CoordinatorInput): void {
  const { state, ctx } = delivery;
  adopt(delivery, shareOf(delivery));
  const cause = reason === undefined ? { kind: 'operator' } : { kind: 'app', reason };
  ctx.send(
    coordinatorOf(ctx.address[1]),
    { name: 'aos.agent/UserInput@1', value: { command_id, parts: [...parts], priority, cause } },
    { reply: true, tag: startOfText(`${INPUT_TAG}${command_id}`, TAG_MAX) },
  );
  state.coordinator.sent++;
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
  const share = isSpent(delivery) ? null : setAside(delivery);
  shares.push(share?.amount ?? 0);
  return share ?? { unit: budget.unit, amount: 1 };
}

/** The session adopts the coordinator's definition as the team has it now, with the limit of its next run. */
function adopt(delivery: Delivery, share: Share | null): void {
  const { state, ctx } = delivery;
  const { coordinator } = state;
  if (coordinator.adopted === state.version && share === null) return;
  const isNew = coordinator.adopted === null;
  const project = ctx.address[1];
  const { def_ref, config: whole } = teamOf(delivery).coordinator;
  const config = share === null ? whole : { ...whole, limits: { ...whole.limits, ...limitOf(share) } };
  const value = {
    ...{ def_ref, config, adopt: 'next_run', agents: [] },
    ...(isNew ? { depth: 0, tell_owner: true, labels: { project, role: 'coordinator' } } : {}),
  };
  const answer = { reply: 'refusal', tag: ADOPTED_TAG } as const;
  ctx.send(coordinatorOf(project), { name: 'aos.agent/AgentAdopted@1', value }, answer);
  coordinator.adopted = state.version;
}

function limitOf({ unit, amount }: Share): object {
  return unit === 'tokens' ? { max_tokens: amount } : { max_micro_money: amount };
}

/** Whether nothing of the coordinator is under way. */
export function isIdle({ state: { coordinator } }: Delivery): boolean {
  return !coordinator.busy && coordinator.sent === 0;
}
