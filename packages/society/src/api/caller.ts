/** Calls of the society's tools as an entity: in the form of its cell, and in that of the schemas that clients know. */
import type { AgentWorld } from '@reprise/agent';
import { type Address, RepriseError, type Value, type ValueMap } from '@reprise/contracts';
import { entityAt } from '../pure/index.js';
import { keptArgs } from '../served/kept.js';
import { shownAnswer, textsOf } from '../served/shown.js';
import type { SocietyToolName, ToolAnswer, ToolArgs } from '../wire/index.js';
import { answerOnce } from './repeated.js';
import type { Answered, SocietyBy } from './requests.js';

/** An answer, and the frame of its request. */
type AnsweredIn = Answered & { readonly seq: number };

/** An entity that calls tools. */
export class EntityCaller {
  readonly address: Address;

  constructor(
    protected readonly world: AgentWorld,
    readonly id: string,
  ) {
    this.address = entityAt(id);
  }

  /** Calls a tool of the society as this entity. @throws RepriseError `request_rejected` */
  async call(name: string, args: Value, { id = crypto.randomUUID(), ...by }: SocietyBy = {}): Promise<Value> {
    const { value, is_error } = await this.answerTo(name, args, { id, ...by });
    if (is_error) throw refusedCall(this.id, name, value);
    return value;
  }

  /**
   * Calls a tool in the form of its schema, as a client of MCP does: texts are stored as content that can be erased, and
   * the answer shows texts.
   *
   * @param tool a tool; @param args its arguments, as `docs/reference/society-tools.md` lists them
   * @throws RepriseError `request_rejected`; `request_conflict` for an id under which another call was sent
   * @example
   * await ann.use('memory_write_warm', { type: 'note', content: 'Bodies have at most 1 MiB.', visibility: 'private' })
   */
  async use<T extends SocietyToolName>(tool: T, args: ToolArgs<T>, by: SocietyBy = {}): Promise<ToolAnswer<T>> {
    const { content } = this.world.kernel;
    const id = by.id ?? crypto.randomUUID();
    const answered = await this.answerTo(tool, await keptArgs(tool, args as ValueMap, { content, id }), { ...by, id });
    if (answered.is_error) throw refusedCall(this.id, tool, answered.value);
    const texts = await textsOf(tool, answered.refs, content);
    return shownAnswer(tool, answered.value, texts) as unknown as ToolAnswer<T>;
  }

  /** Calls a tool as this entity, and returns a refusal as data. */
  async answerTo(name: string, args: Value, by: SocietyBy = {}): Promise<Answered> {
    const { seq: _, ...answered } = await this.answered(name, args, by);
    return answered;
  }

  /** Calls a tool, once for each id, and says in which frame it was asked. */
  async answered(
    name: string,
    args: Value,
    { id = crypto.randomUUID(), as, actor, isOfId }: SocietyBy & { readonly isOfId?: boolean },
  ): Promise<AnsweredIn> {
    return answerOnce(this.world.kernel, this.address, { id, name, args, as, actor, isOfId });
  }
}

/** The error of a call that was refused. */
export function refusedCall(entity: string, name: string, value: Value): RepriseError {
  const { code, error, detail } = value as {
    readonly code?: string;
    readonly error?: string;
    readonly detail?: string;
  };
  const reason = code ?? error ?? 'refused';
  return new RepriseError('request_rejected', `${entity} may not: ${name} was refused with ${reason}`, {
    where: name,
    reason,
    actual: value,
    hint:
      detail === undefined
        ? 'docs/reference/society.md says when each refusal comes.'
        : `The check that failed: ${detail}.`,
  });
}
