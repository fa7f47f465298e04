/** The coordinator's session: it is made with the first input, and has at most one wake under way. */
import { type InputPart, startOfText } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { allRows } from '@reprise/kernel/define';
import { firstOf, key, limitOf, type Share } from '@reprise/org/contracts';
import { coordinatorOf, type ProjectRefusal, type projectTables } from '../../contracts/index.js';
import { type Delivery, teamOf } from '../project/delivery.js';
import { budgetOf, isSpent, returnShare, takeShare } from '../project/spending.js';

interface CoordinatorInput {
  readonly command_id: string;
  readonly parts: readonly InputPart[];
  readonly priority: number;
  /** Why the project itself sends it; absent for words of people. */
  readonly reason?: string;
}

/** Begins the tags of inputs, whose answer says that the session has taken or refused them. */
export const INPUT_TAG = 'input.';

/** Begins the tag of a definition for a session that stands; the key of the input that follows is behind it. */
export const ADOPTED_TAG = 'adopted.';

/** Begins the tag of the first input of a session: it comes with the definition, so one event makes the session. */
export const FIRST_TAG = 'first.';

/**
 * Sends an input to the coordinator. One that brings another definition to a session that stands is sent when the session
 * has taken the definition, and so are those behind it: none runs under the definition before, or without its share as a limit.
 */
export function tellCoordinator(delivery: Delivery, { command_id, parts, priority, reason }: CoordinatorInput): void {
  const { state, ctx } = delivery;
  const { coordinator, version } = state;
  const share = shareOf(delivery);
  const cause: Input['cause'] = reason === undefined ? { kind: 'operator' } : { kind: 'app', reason };
  const input: Input = { command_id, parts: [...parts], priority, cause };
  coordinator.sent++;
  if (coordinator.adopted === null) {
    const labels = { project: ctx.address[1], role: 'coordinator' };
    const value = { ...adoptionOf(delivery, share), depth: 0, tell_owner: true, labels, input };
    ctx.send(
      coordinatorOf(ctx.address[1]),
      { name: 'aos.agent/AgentAdopted@1', value },
      answered(FIRST_TAG, command_id),
    );
    coordinator.adopted = version;
  } else if (coordinator.adopted === version && share === null && ctx.table('adopting').size === 0)
    sendInput(delivery, input);
  else adopt(delivery, keyBehind(delivery, command_id), { version, share, input });
}

/** The key behind those of all inputs that wait: a revival sends them again in the order in which they came. */
function keyBehind({ ctx }: Delivery, command_id: string): string {
  const [last = key(0)] = [...allRows(ctx.table('adopting'))].at(-1) ?? [];
  return `${key(firstOf(last) + 1)}.${ctx.hash(command_id)}`;
}

type Adopting = z.infer<(typeof projectTables)['adopting']>;
type Input = Adopting['input'];

/** Sends an input to the session, which has its definition. */
export function sendInput({ ctx }: Delivery, input: Input): void {
  const to = coordinatorOf(ctx.address[1]);
  ctx.send(to, { name: 'aos.agent/UserInput@1', value: input }, answered(INPUT_TAG, input.command_id));
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

/** A session that stands adopts the coordinator's definition as the team has it now; the input follows its answer. */
function adopt(delivery: Delivery, at: string, adopting: Adopting): void {
  const { ctx } = delivery;
  ctx.table('adopting').set(at, adopting);
  const event = { name: 'aos.agent/AgentAdopted@1', value: adoptionOf(delivery, adopting.share) };
  ctx.send(coordinatorOf(ctx.address[1]), event, { reply: true, tag: `${ADOPTED_TAG}${at}` });
}

/** Sends the definitions again that the session has not answered, in the order in which their inputs came. */
export function adoptAgain(delivery: Delivery): void {
  const { version } = delivery.state;
  for (const [at, row] of [...allRows(delivery.ctx.table('adopting'))]) adopt(delivery, at, { ...row, version });
}

/** Refuses the inputs whose definitions the session has not answered: none of them was sent. */
export function dropAdopting(delivery: Delivery, code: ProjectRefusal): void {
  const { ctx, state } = delivery;
  const { coordinator } = state;
  const adopting = ctx.table('adopting');
  for (let first = adopting.first(); first !== undefined; first = adopting.first()) {
    const [at, { input }] = first;
    adopting.delete(at);
    coordinator.sent = Math.max(0, coordinator.sent - 1);
    returnShare(delivery, coordinator.shares.pop() ?? 0);
    ctx.record('specialists/Commanded@1', { command_id: input.command_id, code, value: null });
  }
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
