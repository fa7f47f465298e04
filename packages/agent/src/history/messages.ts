/**
 * The messages and commands that a frame brings to sessions. They are read from the request, or from the event of
 * another cell, since only these hold all parts of a message.
 */
import {
  type Actor,
  actorOf,
  formatAddress,
  type InputPart,
  type JournalRecord,
  type Principal,
  type Ref,
  type Sender,
} from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { ContentReader } from '@reprise/kernel';
import type { agentAdopted, RunCause, SessionCommand, sessionCommand, UserInput } from '../contracts/commands.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { EventFrame } from '../timeline/event-frame.js';
import { actedWords, textAt } from './words.js';

/** A message or a command to a session, as it was sent. */
export interface Sent {
  /** The index of its record in the frame. */
  readonly i: number;
  readonly session: string;
  readonly command_id: string;
  /** The principal, or `session <key>`, that sent it. */
  readonly by: string;
  /** Who sent it from outside; absent when a cell did. */
  readonly actor?: Actor;
  /** `UserInput` or the type of the command. */
  readonly type: 'UserInput' | SessionCommand['type'];
  /** The parts of a message. */
  readonly parts: readonly InputPart[];
  /** Why a run began, where the message is its input. */
  readonly cause?: RunCause;
  /** The command, where the message is one. */
  readonly command?: SessionCommand;
}

/** The messages and commands in a frame, in order. */
export function sentIn({ records }: Pick<EventFrame, 'records'>): Sent[] {
  return records.flatMap((record, i) => {
    const sent = messageIn(record, i);
    return sent === undefined ? [] : [sent];
  });
}

function messageIn(record: JournalRecord, i: number): Sent | undefined {
  if (record.kind !== 'request' && record.kind !== 'event') return undefined;
  const { to, event } = record;
  if (to[0] !== SESSION_REDUCER) return undefined;
  const base = { i, session: to[1], ...senderIn(record) };
  const input = inputIn(event);
  if (input !== undefined) {
    const { parts, command_id, cause } = input;
    return { ...base, type: 'UserInput', command_id, parts, cause };
  }
  if (event.name !== 'aos.agent/HostCommand@1') return undefined;
  const { command_id, command } = event.value as z.infer<typeof sessionCommand>;
  // The parts of a spawn are the first message of the child, which the frame holds as well.
  const parts = command.type === 'Steer' || command.type === 'FollowUp' ? command.parts : [];
  return { ...base, type: command.type, command_id, parts, command };
}

/** The input that an event brings: alone, or together with the definition that the session adopts. */
function inputIn({ name, value }: { readonly name: string; readonly value: unknown }): UserInput | undefined {
  // The gate checked the value before it was journaled; a rejected one is no input of the session.
  if (name === 'aos.agent/UserInput@1') return value as UserInput;
  return name === 'aos.agent/AgentAdopted@1' ? (value as z.infer<typeof agentAdopted>).input : undefined;
}

function senderIn(record: JournalRecord & { kind: 'request' | 'event' }): Pick<Sent, 'by' | 'actor'> {
  if (record.kind === 'event') return { by: senderName(record.from) };
  return { by: record.principal, actor: actorOf(record.principal as Principal, record.actor) };
}

/** Who sent a message or a command, in words. */
export function sentBy({ by, actor }: Pick<Sent, 'by' | 'actor'>): string {
  return actedWords(by, actor);
}

/** The name of a sender: `session <key>`, or the address of another cell. */
function senderName(from: Sender): string {
  if (from === null) return 'kernel';
  return from[0] === SESSION_REDUCER ? `session ${from[1]}` : formatAddress(from);
}

/** The text of a message: its texts, and a note for every other part. */
export async function messageText(content: ContentReader, parts: readonly InputPart[]): Promise<string> {
  const texts = await Promise.all(parts.map((part) => partText(content, part)));
  return texts.join('\n');
}

/** The first link to a text of a message. */
export function messageRef(parts: readonly InputPart[]): Ref | undefined {
  const [part] = parts;
  return part?.kind === 'text' ? part.text_ref : part?.kind === 'blob' ? part.blob_ref : part?.output_ref;
}

async function partText(content: ContentReader, part: InputPart): Promise<string> {
  switch (part.kind) {
    case 'text':
      return (await textAt(content, part.text_ref)) ?? '(erased)';
    case 'blob':
      return `[${part.name ?? 'file'}, ${part.media_type}${part.bytes === undefined ? '' : `, ${part.bytes} bytes`}]`;
    case 'result':
      return `[the result of ${part.child}]`;
  }
}
