/** The approvals and questions of a session and of those below it, as events tell of them, and as interrupts. */
import type { AgentEvent, AgentEventOf } from '@reprise/agent';
import type { Principal } from '@reprise/contracts';
import { matches } from '@reprise/kernel/authority';
import { jsonText } from '../sessions/json.js';
import { callIdOf } from './conversation.js';
import type { Interrupt } from './events.js';

type Requested = AgentEventOf<'human.requested'>;
type Resolved = AgentEventOf<'human.resolved'>;

/** An approval or a question, and how it ended. */
export interface Item {
  readonly asked: Requested;
  readonly ended?: Pick<Resolved, 'how' | 'by' | 'actor'> & {
    /** The digest of the arguments that a person gave its call in place of its own; null for none, absent while it is not known. */
    readonly edited?: string | null;
  };
}

/** Who may decide where an item names nobody. */
const ANYBODY = 'human:*';

/** The items of a tree of sessions so far. */
export class Items {
  readonly #known = new Map<string, Item>();

  take(event: AgentEvent): void {
    if (event.type === 'human.requested') this.#known.set(event.id, { asked: event });
    if (event.type === 'human.resolved') for (const id of idsOf(event)) this.#end(id, event);
    if (event.type === 'tool.completed') this.#made(event);
  }

  /** An item by its id. */
  get(id: string): Item | undefined {
    return this.#known.get(id);
  }

  /** What waits for a principal, the oldest first. */
  openTo(principal: Principal): readonly Requested[] {
    return [...this.#known.values()]
      .filter(({ asked, ended }) => ended === undefined && isFor(asked, principal))
      .map(({ asked }) => asked);
  }

  /** The result of a call says with which arguments it was made. */
  #made({ session_id, call_id, edited_args_ref }: AgentEventOf<'tool.completed'>): void {
    for (const [id, { asked, ended }] of this.#known)
      if (ended !== undefined && asked.call_id === call_id && asked.session_id === session_id)
        this.#known.set(id, { asked, ended: { ...ended, edited: edited_args_ref?.hex ?? null } });
  }

  #end(id: string, { how, by, actor }: Resolved): void {
    const known = this.#known.get(id);
    if (known === undefined || known.ended !== undefined) return;
    this.#known.set(id, { ...known, ended: { how, by, ...(actor === undefined ? {} : { actor }) } });
  }
}

/** Whether a principal is asked. */
function isFor({ to }: Requested, principal: Principal): boolean {
  return matches(to ?? ANYBODY, principal);
}

/** The items that an event ends. */
export function idsOf({ id, also = [] }: Resolved): readonly string[] {
  return [id, ...also];
}

const DECISION = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    editedArgs: { type: 'object', description: 'Other arguments for the call. They replace all of its own.' },
    reason: { type: 'string', description: 'Told to the model.' },
  },
  required: ['approved'],
} as const;

/** An item as an interrupt. @param root the session of the thread @param subagent names a session below it */
export function interruptOf(
  asked: Requested,
  root: string,
  subagent: (session: string) => string | undefined,
): Interrupt {
  const { id, deadline, session_id: session } = asked;
  const about = {
    id,
    ...(deadline === null ? {} : { expiresAt: new Date(deadline).toISOString() }),
  };
  const below = session === root ? undefined : subagent(session);
  const whose = below === undefined ? {} : { subagentRunId: below };
  if (asked.kind === 'question') return { ...about, ...questionOf(asked), ...whose };
  const { tool, call_id, value } = asked;
  const words = tool === null ? 'Approve the changed tools?' : `Approve ${tool} ${jsonText(value ?? {})}?`;
  const approval = { ...about, message: words, responseSchema: DECISION, ...whose };
  if (call_id !== null && session === root)
    return { ...approval, reason: 'tool_call', toolCallId: callIdOf(asked, call_id) };
  return { ...approval, reason: 'confirmation', metadata: { reprise: { session, tool, args: value ?? null } } };
}

function questionOf({ value }: Requested): Pick<Interrupt, 'reason' | 'message' | 'responseSchema'> {
  if (typeof value !== 'object' || value === null)
    return { reason: 'input_required', message: String(value ?? ''), responseSchema: {} };
  const { question, options, answer } = value as Readonly<Record<string, unknown>>;
  const message = typeof question === 'string' ? question : jsonText(value);
  return { reason: 'input_required', message, responseSchema: answerSchema(options, answer) };
}

function answerSchema(options: unknown, answer: unknown): object {
  if (Array.isArray(options)) return { enum: options.map((one) => (one as { readonly id?: unknown }).id ?? one) };
  return typeof answer === 'object' && answer !== null ? answer : {};
}
