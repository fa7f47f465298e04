/** What a message from outside does in a world: one act, under one id. */
import type { AgentWorld, AnyAgent } from '@reprise/agent';
import { type Address, type Principal, present, RepriseError, type Settlement, type Value } from '@reprise/contracts';
import { encode, portableSha256, toHex } from '@reprise/kernel/codec';

/** A message to a session. A session begins with its first one. */
export interface SayToSession {
  readonly session: string;
  readonly text: string;
  /** The agent of the session; needed when the world has several. */
  readonly agent?: AnyAgent;
  readonly labels?: Readonly<Record<string, string>>;
}

/** An event to a cell. */
export interface SendToCell {
  readonly cell: Address;
  readonly event: { readonly name: string; readonly value: Value };
}

/** The outcome of a call that another system finishes: its tool returned `deferred()`. */
export interface SettleCall {
  readonly call: string;
  readonly outcome: Settlement;
}

/** What a message does: one of three kinds, told apart by their fields. */
export type WebhookAct = SayToSession | SendToCell | SettleCall;

/** Does what a message says, as a principal. @param id the id of the act: one id is one act */
export async function act(world: AgentWorld, what: WebhookAct, id: string, as: Principal | undefined): Promise<void> {
  const who = present({ as });
  if ('session' in what) {
    const { session, text, labels } = what;
    await world.session(session, agentOf(world, what), present({ labels })).send(text, { id, ...who });
  } else if ('cell' in what) await world.kernel.request(what.cell, what.event, { id, ...who });
  else await world.settle(what.call, what.outcome, { id, ...who });
}

/** The id of an act: that of the sender, below the name of the handler. It never equals an id of another handler. */
export function actId(handler: string, id: string): string {
  return `webhook/${toHex(portableSha256(encode([handler, id]))).slice(0, ID_DIGITS)}`;
}

/** The digits of a digest in an id: none of two messages are the same. */
const ID_DIGITS = 48;

function agentOf(world: AgentWorld, { agent }: SayToSession): AnyAgent {
  const [only] = world.agents.length === 1 ? world.agents : [];
  const found = agent ?? only;
  if (found !== undefined) return found;
  throw new RepriseError('invalid_argument', 'a message to a session names no agent', {
    where: 'webhookHandler(options.to)',
    expected: '{ session, text, agent }, since the world has several agents',
  });
}
