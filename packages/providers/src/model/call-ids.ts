/** Call ids: unique in a conversation, and in a form that the wire accepts. */
import { requireArgument, requireFields } from '@reprise/contracts';
import { portableSha256, toHex } from '@reprise/kernel/codec';
import type { UnifiedMessage } from './model.js';
import { Derived } from './steady.js';
import { cut } from './text.js';

/** Hands out each id once. Some providers number calls from zero in every answer. */
export class FreshIds {
  private readonly taken: Set<string>;
  private readonly next = new Map<string, number>();

  constructor(taken: Iterable<string> = []) {
    this.taken = new Set(taken);
  }

  /** Returns the id, with the first free number appended if it is taken, and marks it as taken. */
  take(id: string): string {
    let free = id;
    for (let n = this.next.get(id) ?? 2; this.taken.has(free); n++) {
      free = `${cut(id, 112)}_${n}`;
      this.next.set(id, n + 1);
    }
    this.taken.add(free);
    return free;
  }
}

/** Which ids a wire format accepts. */
export interface CallIdRule {
  readonly lengthMin: number;
  readonly lengthMax: number;
  /** `word`: letters, digits, `_` and `-`. `alphanumeric`: letters and digits. */
  readonly alphabet: 'word' | 'alphanumeric';
}

const ALPHABETS: Readonly<Record<CallIdRule['alphabet'], RegExp>> = {
  word: /^[a-zA-Z0-9_-]+$/,
  alphanumeric: /^[a-zA-Z0-9]+$/,
};

/** Whether an id follows a rule. */
export function fitsRule(id: string, rule: CallIdRule): boolean {
  return id.length >= rule.lengthMin && id.length <= rule.lengthMax && ALPHABETS[rule.alphabet].test(id);
}

/**
 * Rewrites call ids for a wire: ids that follow the rule stay, others are replaced by digits of their digest.
 * An id depends only on the messages before it, so a longer conversation begins with the same ids.
 */
export function mintCallIds(messages: readonly UnifiedMessage[], rule: CallIdRule): UnifiedMessage[] {
  const isList: boolean = Array.isArray(messages);
  requireArgument(isList, 'mintCallIds(messages)', 'a list of messages', messages);
  requireFields(rule, 'mintCallIds(rule)', 'a rule, { alphabet, lengthMin, lengthMax }');
  const minted = new Map<string, string>();
  const taken = new Set<string>();
  const mint = (id: string): string => {
    let candidate = id;
    for (let n = 0; taken.has(candidate) || !fitsRule(candidate, rule); n++) candidate = digestId(`${id}#${n}`, rule);
    taken.add(candidate);
    minted.set(id, candidate);
    return candidate;
  };
  return messages.map((message) => {
    if (message.role === 'user') return message;
    if (message.role === 'tool') {
      const callId = minted.get(message.callId) ?? mint(message.callId);
      if (callId === message.callId) return message;
      return renamed.of(message, [], callId, () => ({ ...message, callId }));
    }
    const ids = message.calls.map((call) => mint(call.callId));
    if (ids.every((id, i) => id === message.calls[i]?.callId)) return message;
    const calls = () => message.calls.map((call, i) => ({ ...call, callId: ids[i] ?? call.callId }));
    return renamed.of(message, [], ids.join(' '), () => ({ ...message, calls: calls() }));
  });
}

/** Messages under other ids; the ids of a rule hold no space. */
const renamed = new Derived<UnifiedMessage>();

function digestId(text: string, { lengthMax }: CallIdRule): string {
  return toHex(portableSha256(new TextEncoder().encode(text))).slice(0, lengthMax);
}
