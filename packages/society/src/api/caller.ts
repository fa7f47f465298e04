/** Calls of the society's tools as an entity: each has one encoding (encode/N1), and is sent once for each id. */
import type { AgentWorld } from '@reprise/agent';
import {
  type Address,
  isFilled,
  present,
  RepriseError,
  requireArgument,
  requireFields,
  type Value,
} from '@reprise/contracts';
import { shownAnswer } from '../answers/shown.js';
import { encodeCall } from '../call/encode.js';
import { entityAt, type SocietyToolName } from '../pure/index.js';
import type { ToolAnswer, ToolArgs } from '../wire/index.js';
import { answerOnce } from './repeated.js';
import type { Answered, By } from './requests.js';

/** An answer, and the frame of its request. */
type AnsweredIn = Answered & { readonly seq: number };

/** Who calls, and how the call is named. */
interface CallBy extends By {
  /** The id of a call whose caller names none; a new one when absent. */
  readonly otherwise?: string;
  /** The id is made of what the call says: an earlier call under it is this one, also when its texts were erased since. */
  readonly isOfId?: boolean;
}

/** An entity that calls tools. */
export class EntityCaller {
  readonly address: Address;

  constructor(
    protected readonly world: AgentWorld,
    readonly id: string,
  ) {
    this.address = entityAt(id);
  }

  /** Brings the entity back after its cell has failed, with the state before the fault. See `World.revive`. */
  async revive(by: By = {}): Promise<void> {
    await this.world.revive(this, by);
  }

  /**
   * Calls a tool of the society as this entity: texts are stored as content that can be erased, and the answer shows
   * texts. Every other method that calls a tool is this one with typed arguments.
   *
   * @param tool a tool; @param args its arguments, as `docs/reference/society-tools.md` lists them; @param by the id of the
   *   call, which `command_id` among the arguments states as well: a repetition is one act, also by another way
   * @throws RepriseError `request_rejected` with the code of the refusal as its reason; `request_conflict` for an id under
   *   which another call was sent; `invalid_argument` for an id and another `command_id`
   * @example
   * await ann.use('memory_write_warm', { type: 'note', content: 'Bodies have at most 1 MiB.', visibility: 'private' })
   */
  async use<T extends SocietyToolName>(tool: T, args: ToolArgs<T>, by: By = {}): Promise<ToolAnswer<T>> {
    return this.shown(tool, await this.answered(tool, args, by));
  }

  /** Calls a tool as this entity, and returns a refusal as data. */
  answerTo<T extends SocietyToolName>(tool: T, args: ToolArgs<T>, by: CallBy = {}): Promise<Answered> {
    return this.#call(tool, args, by);
  }

  /** Calls a tool, once for each id, and says in which frame it was asked. @throws RepriseError as {@link use} */
  async answered<T extends SocietyToolName>(tool: T, args: ToolArgs<T>, by: CallBy = {}): Promise<AnsweredIn> {
    const answered = await this.#call(tool, args, by);
    if ('seq' in answered) return answered;
    throw refusedCall(this.id, tool, answered.value);
  }

  /** The answer of a tool in the form of its schema. @throws RepriseError `request_rejected` for a refusal */
  async shown<T extends SocietyToolName>(tool: T, { value, refs, is_error }: Answered): Promise<ToolAnswer<T>> {
    if (is_error) throw refusedCall(this.id, tool, value);
    return shownAnswer(tool, { value, refs }, this.world.kernel.content);
  }

  /** Arguments that do not fit are refused here, and nothing is recorded: such an answer has no frame. */
  async #call(tool: string, given: unknown, by: CallBy): Promise<Answered | AnsweredIn> {
    requireArgument(isFilled(tool), 'entity.use(tool)', 'the name of a tool of the society', tool);
    requireFields(by, `${tool} options`, 'an object with any of id, as, actor');
    const { id, as, actor, otherwise, isOfId } = by;
    const { kernel } = this.world;
    const call = await encodeCall(tool, given, { content: kernel.content, entity: this.id, id, otherwise });
    if ('refused' in call) return { call_id: call.id, value: call.refused, refs: [], is_error: true };
    return answerOnce(kernel, this.address, { ...call, ...present({ as, actor, isOfId }) });
  }
}

/** The error of a call that was refused. */
export function refusedCall(entity: string, name: string, value: Value): RepriseError {
  const { code, error, detail, problem } = value as {
    readonly code?: string;
    readonly error?: string;
    readonly detail?: string;
    readonly problem?: string;
  };
  const reason = code ?? error ?? 'refused';
  return new RepriseError('request_rejected', `${entity} may not: ${name} was refused with ${reason}`, {
    where: name,
    reason,
    actual: value,
    hint:
      detail === undefined
        ? (problem ?? 'docs/reference/society.md says when each refusal comes.')
        : `The check that failed: ${detail}.`,
  });
}

/** Rows, and where those after them begin: the `after` of the next call; absent at the end. */
export interface Pages<R> {
  readonly items: readonly R[];
  readonly next?: string;
}

/** Where a page begins, and the most rows of it. */
export interface Page {
  readonly after?: string;
  readonly limit: number;
}

/** Reads pages of a tool until there are as many rows as asked for, or no more. @param max the most rows of one page */
export async function pagesOf<R>(
  { after, limit }: Page,
  max: number,
  read: (page: Page) => Promise<{ readonly items: readonly R[]; readonly next?: string | undefined }>,
): Promise<Pages<R>> {
  const items: R[] = [];
  for (let at = after; ; ) {
    const page = await read({ ...present({ after: at }), limit: Math.min(limit - items.length, max) });
    items.push(...page.items);
    if (page.next === undefined || items.length >= limit) return { items, ...present({ next: page.next }) };
    at = page.next;
  }
}
