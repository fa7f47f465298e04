/**
 * Judges each message of a server before the MCP package reads it: that package refuses a whole message, and with it a
 * whole list or connection, for one odd member.
 *
 * Invariants
 * J1  An odd item loses only itself: a tool, a block of an answer, a hint, a message. Where it has exactly one meaning,
 *     it is read so.
 * J2  Each request gets an end: an answer that cannot be read, or that can no longer come, becomes a lost answer at
 *     once.
 * J3  Each odd item is described in words, for operators; where it belongs to a call, the call's receipt has the words.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import type { LargeNumbers } from '@reprise/contracts/json';
import { LARGE_NUMBERS_AS_TEXT, withWarnings } from './answer-warnings.js';
import { lostAnswer } from './lost-answer.js';
import { usableAnswer } from './odd-answer.js';
import { usableGreeting } from './odd-greeting.js';
import { type Page, usablePage } from './odd-tools.js';
import { isObject, kindOf, readNoting } from './read-json.js';
import { Strays } from './strays.js';

/** The member of a request that names the revision of its protocol, since the one of 2026. */
const REVISION = 'io.modelcontextprotocol/protocolVersion';

/** How much of an odd message is shown. */
const SHOWN_UNITS = 120;

/** A request that waits for its answer. */
interface Pending {
  readonly method: string;
  readonly isModern: boolean;
  /** The revision of the protocol that the client offered. */
  readonly offered: unknown;
}

/** Judges the messages of one connection. */
export class Judge {
  readonly #pending = new Map<RequestId, Pending>();
  readonly #strays = new Strays();
  /** The newest id that is a number, and the ids that are texts: an answer under another one answers nothing known. */
  #newest = -1;
  readonly #named = new Set<RequestId>();
  /** Takes an answer that was held. */
  late: (message: JSONRPCMessage) => void = () => undefined;
  /** The page that the server answered last. */
  page: Page | undefined;

  /** @param odd receives each odd thing in words */
  constructor(private readonly odd: (what: string) => void = () => undefined) {}

  /** Takes note of a request that is sent. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    const { method, params = {} } = message;
    if (method === 'notifications/cancelled') this.#pending.delete(params.requestId as RequestId);
    if (!('id' in message)) return;
    if (method === 'initialize') this.#pending.clear(); // the server stayed silent about the newer protocol
    const meta = isObject(params._meta) ? params._meta : {};
    if (typeof message.id === 'number') this.#newest = Math.max(this.#newest, message.id);
    else this.#named.add(message.id);
    this.#pending.set(message.id, { method, isModern: REVISION in meta, offered: params.protocolVersion });
  }

  /**
   * The end of a request whose answer will not come: the answer that came under a foreign id, or that it is lost;
   * undefined when nothing waits for it.
   */
  lost(id: RequestId, why: string): JSONRPCMessage | undefined {
    const stray = this.#pending.has(id) ? this.#strays.take(id) : undefined;
    if (stray !== undefined) return this.#settled(id, stray, [strayWords(stray.id)]);
    return this.#pending.delete(id) ? lostAnswer(id, why) : undefined;
  }

  /** The ends of all requests that wait. */
  *lostAll(why: string): Generator<JSONRPCMessage> {
    for (const id of [...this.#pending.keys()]) {
      const message = this.lost(id, why);
      if (message !== undefined) yield message;
    }
  }

  /**
   * Reads a text that a server sent as one message: a message, or a list of them.
   *
   * @param only the request that the text answers, where the transport says it
   */
  *read(text: string, only?: RequestId): Generator<JSONRPCMessage> {
    const read = readNoting(text) ?? readNoting(behindWords(text));
    if (read === undefined) return yield* this.#unreadable(text, only);
    const messages = Array.isArray(read.data) ? (read.data as readonly unknown[]) : [read.data];
    for (const [at, one] of messages.entries()) {
      const hasLarge = hasLargeNumbers(read, Array.isArray(read.data) ? [at] : []);
      const message = this.#judged(one, only, hasLarge);
      if (message !== undefined) yield message;
    }
  }

  /** A message as the MCP package can read it; undefined when it has to be left out. J1 */
  #judged(message: unknown, only: RequestId | undefined, hasLarge: boolean): JSONRPCMessage | undefined {
    if (!isObject(message)) return this.#leaveOut(message, `it is ${kindOf(message)}`);
    if (typeof message.method === 'string') return this.#asked(message.method, message);
    return this.#answered(message, only, hasLarge ? [LARGE_NUMBERS_AS_TEXT] : []);
  }

  /** A request or a notification of the server. */
  #asked(method: string, message: Readonly<Record<string, unknown>>): JSONRPCMessage | undefined {
    const { id } = message;
    if (id !== undefined && id !== null && !isId(id)) return this.#leaveOut(message, 'its id is not an id');
    const params = this.#paramsOf(message, method);
    if (method === 'notifications/progress' && !isProgress(params)) {
      return this.#leaveOut(message, 'it tells no progress of a request');
    }
    if (params !== undefined && isId(params.progressToken)) this.#strays.drop(params.progressToken); // it still runs
    const asked = { jsonrpc: '2.0' as const, method, ...(params === undefined ? {} : { params }) };
    return isId(id) ? { ...asked, id } : asked;
  }

  #paramsOf({ params }: Readonly<Record<string, unknown>>, method: string): Record<string, unknown> | undefined {
    if (params === undefined || params === null) return undefined;
    if (!isObject(params)) {
      this.odd(`the parameters of ${shown(method)} are ${kindOf(params)} and are ignored`);
      return undefined;
    }
    const kept = Object.entries(params).filter(
      ([name, value]) => value !== null && (name !== '_meta' || isObject(value)),
    );
    if (method !== 'notifications/progress')
      return '_meta' in params && !isObject(params._meta) ? without(params, '_meta') : params;
    return Object.fromEntries(kept.filter(([name, value]) => PROGRESS_TEXTS[name]?.includes(typeof value) ?? true));
  }

  /** An answer of the server. J2 */
  #answered(
    message: Readonly<Record<string, unknown>>,
    only: RequestId | undefined,
    warnings: readonly string[],
  ): JSONRPCMessage | undefined {
    const id = this.#idOf(message.id);
    return id === undefined ? this.#stray(message, only) : this.#settled(id, message, warnings);
  }

  /** An answer that names no request which waits: where it can be the answer to one only, it is held for that one. */
  #stray(message: Readonly<Record<string, unknown>>, only: RequestId | undefined): undefined {
    const id = only !== undefined && this.#pending.has(only) ? only : this.#single();
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || pending === undefined || this.#isKnown(message.id) || !mayAnswer(message, pending))
      return this.#leaveOut(message, 'nothing waits for such an answer');
    this.#strays.hold(id, message, (held) => this.#late(id, held, only));
    return undefined;
  }

  /** Reads an answer that was held, if its request still waits, and still is the only one that it can answer. */
  #late(id: RequestId, held: Readonly<Record<string, unknown>>, only: RequestId | undefined): void {
    const isOne = this.#pending.has(id) && (only === id || this.#pending.size === 1);
    if (isOne) this.late(this.#settled(id, held, [strayWords(held.id)]));
    else this.#leaveOut(held, 'nothing waits for such an answer');
  }

  /** Whether a request had this id: then an answer under it comes late or twice. */
  #isKnown(id: unknown): boolean {
    const number = typeof id === 'string' && id.trim() !== '' ? Number(id) : id;
    const isNumber = typeof number === 'number' && Number.isInteger(number);
    return this.#named.has(id as RequestId) || (isNumber && number >= 0 && number <= this.#newest);
  }

  /** The answer to a request that waits. */
  #settled(id: RequestId, message: Readonly<Record<string, unknown>>, warnings: readonly string[]): JSONRPCMessage {
    const pending = this.#pending.get(id);
    if (pending === undefined) return lostAnswer(id, 'its answer came twice');
    this.#pending.delete(id);
    this.#strays.drop(id);
    const { result, error } = message;
    if (error !== undefined && error !== null) {
      if (result !== undefined && result !== null) return this.#unread(id, pending, 'it holds a result and an error');
      return { jsonrpc: '2.0', id, error: errorOf(error) };
    }
    if (result === undefined) return this.#unread(id, pending, 'it holds neither a result nor an error');
    const usable = this.#usable(result, pending, warnings);
    if (typeof usable === 'string') return this.#unread(id, pending, usable);
    return { jsonrpc: '2.0', id, result: usable } as JSONRPCMessage;
  }

  /** A result that the MCP package accepts, or the reason why there is no such result. */
  #usable(
    result: unknown,
    { method, isModern, offered }: Pending,
    warnings: readonly string[],
  ): Readonly<Record<string, unknown>> | string {
    const said = [...warnings];
    const odd = (what: string): void => {
      this.odd(what);
      said.push(what);
    };
    for (const warning of warnings) if (warning !== LARGE_NUMBERS_AS_TEXT) this.odd(warning);
    switch (method) {
      case 'ping':
        return {};
      case 'initialize':
      case 'server/discover':
        return usableGreeting(result, method === 'initialize' ? offered : undefined, odd);
      case 'tools/list': {
        const page = usablePage(result, isModern, odd);
        if (typeof page === 'string') return page;
        this.page = page;
        return page.result;
      }
      case 'tools/call': {
        const answer = usableAnswer(result, isModern, odd);
        return typeof answer === 'string' ? answer : withWarnings(answer, said);
      }
      default:
        return isObject(result) ? result : `its result is ${kindOf(result)}`;
    }
  }

  /** The request that waits for an answer with an id. */
  #idOf(id: unknown): RequestId | undefined {
    if (!isId(id)) return undefined;
    if (this.#pending.has(id)) return id;
    return typeof id === 'string' && id.trim() !== '' && this.#pending.has(Number(id)) ? Number(id) : undefined;
  }

  /** The request that waits, if there is one only. */
  #single(): RequestId | undefined {
    const [single, ...others] = this.#pending.keys();
    return others.length === 0 ? single : undefined;
  }

  #unread(id: RequestId, { method }: Pending, why: string): JSONRPCMessage {
    this.odd(`the answer to ${method} cannot be read: ${why}`);
    return lostAnswer(id, `its answer cannot be read: ${why}`);
  }

  /** A text that is not JSON: the remains of an answer, or words that a program printed between its messages. */
  *#unreadable(text: string, only: RequestId | undefined): Generator<JSONRPCMessage> {
    const id = this.#damaged(text, only);
    const end = id === undefined ? undefined : this.lost(id, 'its answer cannot be read: it is not JSON');
    if (end === undefined) return;
    this.odd(`a message is not JSON: ${shown(text)}`);
    yield end;
  }

  /** The request that a damaged message answers: it names it, and no other one that waits. */
  #damaged(text: string, only: RequestId | undefined): RequestId | undefined {
    if (!/^\s*\{/.test(text) || !/"jsonrpc"|"result"|"error"/.test(text) || /"method"/.test(text)) return undefined;
    if (only !== undefined) return only;
    const named = new Set(
      [...text.matchAll(/"id"\s*:\s*(?:"([^"\\]*)"|(-?\d+))/g)].map(([, word, digits]) => word ?? Number(digits)),
    );
    const waiting = [...named].map((id) => this.#idOf(id)).filter((id) => id !== undefined);
    if (waiting.length === 1) return waiting[0];
    return named.size === 0 ? this.#single() : undefined;
  }

  #leaveOut(message: unknown, why: string): undefined {
    this.odd(`a message is left out, since ${why}: ${shown(JSON.stringify(message) ?? '')}`);
    return undefined;
  }
}

/** Whether large numbers stand in the result of a message, whose place in the text is given. */
function hasLargeNumbers({ count, large }: LargeNumbers, place: readonly (string | number)[]): boolean {
  const path = [...place, 'result'];
  return count > large.length || large.some((one) => path.every((key, at) => one.path[at] === key));
}

/** Whether a message has the form of an answer to a request. A line of a log may be an object with an error, too. */
function mayAnswer(message: Readonly<Record<string, unknown>>, { method }: Pending): boolean {
  const { result, error } = message;
  if (!('jsonrpc' in message) && !('id' in message)) return false;
  if (error !== undefined && error !== null) return result === undefined || result === null;
  if (!isObject(result)) return false;
  const members = ANSWERS[method];
  return members === undefined || members.some((member) => member in result);
}

/** What the result of a request holds at least. */
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  initialize: ['protocolVersion', 'capabilities', 'serverInfo'],
  'server/discover': ['supportedVersions', 'capabilities', 'serverInfo'],
  'tools/list': ['tools'],
  'tools/call': ['content', 'structuredContent'],
};

function strayWords(id: unknown): string {
  const named = id === undefined ? 'no id' : `the id ${shown(JSON.stringify(id))}, which no request has`;
  return `an answer has ${named}: it is read as the answer to the only request that waits`;
}

/** The members of a progress notification that the MCP package reads, with the types that it accepts. */
const PROGRESS_TEXTS: Readonly<Record<string, readonly string[]>> = { total: ['number'], message: ['string'] };

function isProgress(params: Readonly<Record<string, unknown>> | undefined): boolean {
  return params !== undefined && isId(params.progressToken) && Number.isFinite(params.progress);
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
}

/** An error of the protocol: its code and message, or what stands in their place. */
function errorOf(error: unknown): { code: number; message: string; data?: unknown } {
  if (!isObject(error)) return { code: -32_603, message: typeof error === 'string' ? error : JSON.stringify(error) };
  const { code, message, data } = error;
  const numeric = typeof code === 'string' && code.trim() !== '' ? Number(code) : code;
  return {
    code: typeof numeric === 'number' && Number.isSafeInteger(numeric) ? numeric : -32_603,
    message: typeof message === 'string' ? message : JSON.stringify(message ?? error),
    ...(data === undefined ? {} : { data }),
  };
}

/** A message behind words that a program printed on the same line, without a line break. */
function behindWords(line: string): string {
  const at = line.search(/\{\s*"jsonrpc"/);
  return at > 0 ? line.slice(at) : '';
}

function without(object: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

function shown(text: string): string {
  return text.length > SHOWN_UNITS ? `${text.slice(0, SHOWN_UNITS)}…` : text;
}
