/**
 * The bridge's end of the socket: calls go to the owner, and are sent again after a lost connection.
 *
 * Invariants
 * N1  A call keeps its name, so that one sent twice is one act.
 * N2  While the owner cannot be reached, calls wait; after half a minute they are answered as `owner_gone`.
 */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { McpTool } from '@reprise/server';
import { BRIDGE_LINE_BYTES_MAX, BRIDGE_RECONNECT_MS, BRIDGE_TAKEOVER_MS } from './limits.js';
import { type Line, LineSocket } from './lines.js';
import { bearing } from './processes.js';
import { refusal, type Told } from './refusal.js';

/** How long to wait before the owner is tried again, in milliseconds. */
const RETRY_MS = 250;

/** Why the owner does not answer this bridge. */
type Refused = 'forbidden' | 'no_turn' | 'in_use' | 'owner_gone';

const WORDS: Readonly<Record<Refused, string>> = {
  forbidden: 'The owner of the world does not know the token of this bridge, or knows it as that of another program.',
  no_turn: 'The program to which this bridge belongs has ended.',
  in_use: 'Another bridge speaks for this program.',
  owner_gone: 'The process that owns the world cannot be reached. It is not known whether the call was taken.',
};

export interface RunFile {
  readonly socket: string;
  readonly token: string;
  readonly name: string;
  readonly instructions?: string | undefined;
  readonly progressMs?: number | undefined;
  readonly reconnectMs?: number | undefined;
}

interface Waiting {
  readonly line: Line;
  resolve(answer: Line): void;
  refuse(why: Refused): void;
}

/** The error for a list of tools that the owner does not give, and for a call that it does not take. */
export class ListRefused extends Error {
  constructor(readonly code: Refused) {
    super(`${code}: ${WORDS[code]}`);
  }
}

export class OwnerLink {
  readonly #start = randomBytes(8).toString('hex');
  readonly #waiting = new Map<string, Waiting>();
  #wire: LineSocket | undefined;
  #connecting = false;
  /** The owner was not reached for the whole time; then a call tries once. */
  #isGone = false;
  #next = 0;
  #tools: Promise<readonly McpTool[]> | undefined;
  /** Called when the tools have changed. */
  onChanged: () => void = () => undefined;

  constructor(private readonly run: RunFile) {}

  /** The tools that the owner offers. @throws ListRefused */
  tools(): Promise<readonly McpTool[]> {
    const asked = this.#tools ?? this.#list();
    this.#tools = asked;
    asked.catch(() => {
      if (this.#tools === asked) this.#tools = undefined;
    });
    return asked;
  }

  async #list(): Promise<readonly McpTool[]> {
    const list = ++this.#next;
    const { tools } = await this.#ask(`list ${list}`, { list });
    if (!Array.isArray(tools)) throw new Error('the owner gave no list of tools');
    return tools as McpTool[];
  }

  /** Calls a tool. Never throws: a refusal is data. */
  async call(key: string, name: string, args: unknown): Promise<Told> {
    const line = { call: key, name, args };
    const bytes = Buffer.byteLength(JSON.stringify(line));
    if (bytes > BRIDGE_LINE_BYTES_MAX) {
      return refusal('too_large', `A call may have ${BRIDGE_LINE_BYTES_MAX} bytes; this one has ${bytes}.`);
    }
    try {
      const { texts, isError } = await this.#ask(key, line);
      return { texts: texts as string[], isError: isError === true };
    } catch (error) {
      if (error instanceof ListRefused) return refusal(error.code, WORDS[error.code]);
      throw error;
    }
  }

  close(): void {
    this.#refuseAll('owner_gone');
    this.#wire?.end();
  }

  #ask(key: string, line: Line): Promise<Line> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(key, { line, resolve, refuse: (why) => reject(new ListRefused(why)) });
      if (this.#wire !== undefined) this.#wire.send(line);
      else if (!this.#connecting) void this.#connect();
    });
  }

  /** Tries to reach the owner until it answers, refuses, or the time is over (N2). */
  async #connect(): Promise<void> {
    this.#connecting = true;
    const since = Date.now();
    for (;;) {
      const how = await this.#tryOnce();
      if (how === 'open') break;
      const passed = Date.now() - since;
      if (passed >= this.#patience(how)) {
        this.#connecting = false;
        this.#isGone = how === 'owner_gone';
        return this.#refuseAll(how);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    this.#connecting = false;
    this.#isGone = false;
    for (const { line } of this.#waiting.values()) this.#wire?.send(line); // N1
  }

  #patience(how: Refused): number {
    if (how === 'forbidden' || how === 'no_turn') return 0;
    if (how === 'in_use') return BRIDGE_TAKEOVER_MS;
    return this.#isGone ? 0 : (this.run.reconnectMs ?? BRIDGE_RECONNECT_MS);
  }

  #tryOnce(): Promise<'open' | Refused> {
    return new Promise((resolve) => {
      let isOpen = false;
      let named = (): void => undefined;
      const wire: LineSocket = new LineSocket(connect(this.run.socket), {
        line: (line) => {
          if (isOpen) return this.#take(line);
          named();
          if (typeof line.name === 'string') {
            named = showing(line.name, wire);
            return;
          }
          if (line.ok !== true) return resolve(refusedBy(line));
          isOpen = true;
          this.#wire = wire;
          resolve('open');
        },
        over: () => {
          named();
          if (isOpen) this.#lost(wire);
          else resolve('owner_gone');
        },
      });
      wire.send({ hello: 'program', token: this.run.token, start: this.#start });
    });
  }

  #take(line: Line): void {
    const { call, list, changed, error } = line;
    if (changed === true) {
      this.#tools = undefined;
      return this.onChanged();
    }
    if (error === 'no_turn') return this.#refuseAll('no_turn'); // the program has ended
    const key = list === undefined ? String(call) : `list ${list}`;
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    waiting?.resolve(line);
  }

  #lost(wire: LineSocket): void {
    if (this.#wire !== wire) return;
    this.#wire = undefined;
    if (this.#waiting.size > 0 && !this.#connecting) void this.#connect();
  }

  #refuseAll(why: Refused): void {
    for (const { refuse } of this.#waiting.values()) refuse(why);
    this.#waiting.clear();
  }
}

/** Bears a name until the owner has looked, which then knows which process speaks. @returns what ends it */
function showing(name: string, wire: LineSocket): () => void {
  let looked = (): void => undefined;
  const looking = new Promise<void>((resolve) => {
    looked = resolve;
  });
  void bearing(name, () => {
    wire.send({ named: true });
    return looking;
  });
  return () => looked();
}

function refusedBy({ error }: Line): Refused {
  return error === 'forbidden' || error === 'no_turn' || error === 'in_use' ? error : 'owner_gone';
}
