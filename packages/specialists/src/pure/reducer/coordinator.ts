/** The coordinator's session: it is made with the first input, and has at most one wake under way. */
import type { InputPart } from '@reprise/contracts';
import { coordinatorOf } from '../contracts/index.js';
import { type Delivery, teamOf } from './delivery.js';

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

/** Sends an input to the coordinator. */
export function tellCoordinator(delivery: Delivery, { command_id, parts, priority, reason }: CoordinatorInput): void {
  const { state, ctx } = delivery;
  adopt(delivery);
  const cause = reason === undefined ? { kind: 'operator' } : { kind: 'app', reason };
  ctx.send(
    coordinatorOf(ctx.address[1]),
    { name: 'aos.agent/UserInput@1', value: { command_id, parts: [...parts], priority, cause } },
    { reply: true, tag: `${INPUT_TAG}${command_id}`.slice(0, TAG_MAX) },
  );
  state.coordinator.sent++;
}

const TAG_MAX = 200;

/** The session adopts the coordinator's definition as the team has it now. */
function adopt(delivery: Delivery): void {
  const { state, ctx } = delivery;
  const { coordinator } = state;
  if (coordinator.adopted === state.version) return;
  const isNew = coordinator.adopted === null;
  const project = ctx.address[1];
  const { def_ref, config } = teamOf(delivery).coordinator;
  ctx.send(coordinatorOf(project), {
    name: 'aos.agent/AgentAdopted@1',
    value: {
      ...{ def_ref, config, adopt: 'next_run', agents: [] },
      ...(isNew ? { depth: 0, tell_owner: true, labels: { project, role: 'coordinator' } } : {}),
    },
  });
  coordinator.adopted = state.version;
}

/** Whether nothing of the coordinator is under way. */
export function isIdle({ state: { coordinator } }: Delivery): boolean {
  return !coordinator.busy && coordinator.sent === 0;
}
