/** The tools of a society as the reducer of an entity knows them: their arguments, and what each does. */
import type { Ref, Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { CallCheck } from '../compile/index.js';
import type { EntityState } from '../contracts/index.js';

/** What a call is answered with. */
export interface Answer {
  readonly value: Value;
  /** Content that a model is shown in part, and a client reads by its link. */
  readonly refs?: readonly { readonly label: string; readonly ref: Ref }[];
  readonly is_error?: boolean;
}

/** A schema of arguments. */
interface ArgumentSchema {
  parse(value: unknown): unknown;
  safeParse(
    value: unknown,
  ): { readonly success: true } | { readonly success: false; readonly error: { readonly issues: readonly Problem[] } };
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The acts of a tool. */
interface Operation<A = unknown> {
  /** The arguments that it takes. */
  readonly args: ArgumentSchema;
  /** The entity that the call is about, when it is not this one: the call goes there, if it stands below. */
  readonly about?: (args: A) => string | undefined;
  /** The group that the call is judged for. */
  readonly group?: (args: A, draft: EntityState) => string | undefined;
  /** Whether an entity in any status may be acted on by it: otherwise only one that is active. */
  readonly anyStatus?: true;
  /** Acts. @returns the answer; undefined when `answerCall` gives it later */
  readonly run: (draft: EntityState, args: A, call: string, ctx: ReducerContext) => Answer | undefined;
}

/** Operations by the name of their tool. */
export type Operations = Readonly<Record<string, Operation>>;

/** States an operation with the type of its arguments. */
export function operation<A>(
  args: ArgumentSchema & { readonly _zod: { readonly output: A } },
  rest: Omit<Operation<A>, 'args'>,
): Operation {
  return { args, ...rest } as unknown as Operation;
}

/** A refusal, as an answer. */
export function refusal(code: string, details: Readonly<Record<string, Value>> = {}): Answer {
  return { value: { code, ...details }, is_error: true };
}

/** Whether the kernel did not deliver an event because its cell has failed, or failed of this very event. */
export function isOfFailedCell(code: string): boolean {
  return code === 'cell_failed' || code === 'faulted';
}

/**
 * Why a cell of an agent or a swarm was not made, as an answer.
 *
 * @param code of the event that makes it, or of the rights that it was to get
 * @param taken what the event is refused with when the cell is there already, and the code of the answer then
 */
export function notMade(code: string, taken: readonly [refused: string, answer: string]): Answer {
  if (isOfFailedCell(code)) return refusal('cell_failed', { cell: 'failed' });
  if (code === taken[0]) return refusal(taken[1]);
  return refusal('capability_exceeds_parent', { dimension: 'rights', cause: code });
}

/**
 * A denial of the gate, as an answer: it names the first check that failed (CAP-10).
 *
 * @param asked the check that the effect stood for: the gate's code names no dimension
 */
export function denied(code: string, asked: CallCheck): Answer {
  return { value: { error: 'capability_denied', detail: checkOf(code, asked) }, is_error: true };
}

/** Time and number of operations have codes of their own; a chain that is broken permits nothing, so nothing asked. */
function checkOf(code: string, asked: CallCheck): CallCheck {
  if (code === 'cap_denied/expired') return 'ttl';
  return code === 'cap_denied/parallel' || code === 'cap_denied/budget' ? 'parallel' : asked;
}
