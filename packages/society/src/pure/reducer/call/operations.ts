/** The tools of a society as the reducer of an entity knows them: their arguments, and what each does. */

import type { Value } from '@reprise/contracts';
import { type CallAnswer, Refused, refusalBy } from '@reprise/org/contracts';
import type { CallCheck } from '../../compile/index.js';
import { stagingKeyIn } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { SocietyCallOf, SocietyToolName } from '../../contracts/entity-parts.js';
import type { EntityContext } from '../context/entity.js';

export type Answer = CallAnswer;

/** A tool, with the arguments that its statement has let through. @returns undefined when `answerCall` answers it later */
type Operation<A> = {
  run(draft: EntityState, args: A, call: string, ctx: EntityContext): Answer | undefined;
}['run'];

/** What tools do, by their names. */
export type Operations = Readonly<Record<string, Operation<Value>>>;

/** What some of the tools of a society do, by their names. */
export type OperationsOf<T extends SocietyToolName> = { readonly [N in T]: Operation<SocietyCallOf<N>> };

/** The argument that names the entity which a call is about: the call goes there, if that one stands below. */
const ABOUT: { readonly [N in SocietyToolName]?: keyof SocietyCallOf<N> } = {
  agent_register: 'parent_entity_id',
  agent_list: 'entity_id',
  agent_capabilities: 'agent_id',
  agent_set_status: 'agent_id',
  agent_deactivate: 'agent_id',
  agent_challenge: 'agent_id',
  agent_prove: 'agent_id',
  agent_return: 'agent_id',
};

/** The group that a call is judged for. */
const GROUP_OF: { readonly [N in SocietyToolName]?: (args: SocietyCallOf<N>) => string | undefined } = {
  memory_write_warm: ({ group }) => group,
  memory_read_warm: ({ group = '' }) => (group === '' || stagingKeyIn(group) !== undefined ? undefined : group),
  memory_share: ({ group_id }) => group_id,
  group_emcon: ({ group_id }) => group_id,
  swarm_create: ({ swarm_id, group_id }) => group_id ?? swarm_id,
};

/** Whether calls of a tool are about one entity, which may be another one than that which is called. */
export function isAboutOne(name: string): name is keyof typeof ABOUT {
  return Object.hasOwn(ABOUT, name);
}

/** The entity that a call is about, when it is not this one. */
export function aboutIn(name: string, args: Value): string | undefined {
  const field = isAboutOne(name) ? ABOUT[name] : undefined;
  return field === undefined ? undefined : (args as Readonly<Record<string, string>>)[field];
}

/** The group that a call is judged for; null for none. */
export function groupIn(name: string, args: Value): string | null {
  const of = Object.hasOwn(GROUP_OF, name) ? GROUP_OF[name as keyof typeof GROUP_OF] : undefined;
  return of?.(args as never) ?? null;
}

/** The code of a denial: the gate said no, or would. */
export const DENIED = 'capability_denied';

/** A refusal, as an answer. A denial names itself under `error`, which is what clients are told of it (CAP-10). */
export function refusal(code: string, details: Readonly<Record<string, Value>> = {}): Answer {
  return { value: { [code === DENIED ? 'error' : 'code']: code, ...details }, is_error: true };
}

/** Refuses a call: thrown before anything is changed, and answered where the call was taken. */
export function refuse(code: string, details: Readonly<Record<string, Value>> = {}): never {
  throw new Refused(code, details);
}

/** Why no agent was made: its key pair was not made, or the key that it brought was not proved. */
export function keyNotMade(cause: string | null): Refused {
  return new Refused('key_not_made', { cause });
}

/** Denies a call, as the gate would: it names the first check that failed (CAP-10). */
export function deny(check: CallCheck): never {
  throw new Refused(DENIED, { detail: check });
}

/** What a call is answered with by what may refuse it; undefined while it waits. */
export function answerBy(act: () => Answer | undefined): Answer | undefined {
  let answer: Answer | undefined;
  const refused = refusalBy(() => {
    answer = act();
  });
  return refused === undefined ? answer : refusal(refused.code, refused.details);
}

/** Whether the kernel did not deliver an event because its cell has failed, or failed of this very event. */
export function isOfFailedCell(code: string): boolean {
  return code === 'cell_failed' || code === 'faulted';
}

/** What a refusal says besides, where the cell that was to act has failed. */
export const FAILED = { cell: 'failed' } as const;

/**
 * Why a cell of an agent or a swarm was not made.
 *
 * @param code of the event that makes it, or of the rights that it was to get
 * @param taken what the event is refused with when the cell is there already, and the code of the refusal then
 */
export function notMade(code: string, taken: readonly [refused: string, answer: string]): Refused {
  if (isOfFailedCell(code)) return new Refused('cell_failed', FAILED);
  if (code === taken[0]) return new Refused(taken[1]);
  return new Refused('capability_exceeds_parent', { dimension: 'rights', cause: code });
}

/** Why an agent was not made, whether a call registers it or a swarm has it as a member; see {@link notMade}. */
export function agentNotMade(code: string): Refused {
  return notMade(code, ['entity_exists', 'agent_exists']);
}

/**
 * A denial of the gate, as an answer: it names the first check that failed (CAP-10).
 *
 * @param asked the check that the effect stood for: the gate's code names no dimension
 */
export function denied(code: string, asked: CallCheck): Answer {
  return refusal(DENIED, { detail: checkOf(code, asked) });
}

export function isDenial(code: string): boolean {
  return code.startsWith('cap_denied') || code.startsWith('policy_denied') || code === 'denied';
}

/** Time and number of operations have codes of their own; a chain that is broken permits nothing, so nothing asked. */
export function checkOf(code: string, asked: CallCheck): CallCheck {
  if (code === 'cap_denied/expired') return 'ttl';
  return code === 'cap_denied/parallel' || code === 'cap_denied/budget' ? 'parallel' : asked;
}
