/**
 * The people's door of a world: a socket of its own, at which processes of people give commands to the owner.
 *
 * Invariants
 * D1  A command is executed when it is signed with the pass of this owner, by a process that a person started at a
 *     terminal, or with the token. No key crosses the socket, and neither side takes another one's word for the owner's.
 * D2  A program of agents is refused though it has read the pass, as far as the system shows what a process belongs to.
 * D3  An attempt that is refused does nothing, is answered with a code, and is told to the people who run the world.
 */

import { rmSync } from 'node:fs';
import path from 'node:path';
import { isFields, isFilled, RepriseError, requireArgument, requireCallable, type Value } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import { BRIDGE_HELLO_MS, PEOPLE_CONNECTIONS_MAX } from './limits.js';
import type { Line, LineSocket } from './lines.js';
import { freshKey, isSigned, type Pass, removePass, sign, tokenOf, writePass } from './pass.js';
import { doorPlace, freshDoor } from './place.js';
import { bearersOf, freshName, SHOWS_PROCESSES, whyNoPerson } from './processes.js';
import { type HearRefusal, Refusals, refusedAt } from './refusals.js';
import { type Guest, OwnerSocket } from './socket.js';

/** Executes a command. What it throws is told to the process that asked: the code and message of a `RepriseError`. */
export type OwnerCommands = (verb: string, args: Value) => Promise<Value>;

/** The answer of an owner to a command. */
export type OwnerSaid =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** How a process says that it comes: from a person at a terminal, with a token, or as neither. */
export type Coming = 'terminal' | 'token' | 'neither';

/** A command as it is signed. */
export interface Command {
  readonly coming: Coming;
  readonly verb: string;
  readonly args: Value;
}

/** Where commands of people are taken, and what executes them. */
export interface PeopleDoorOptions {
  /** The path of the world's file. */
  readonly world: string;
  readonly commands: OwnerCommands;
  /** Hears of each attempt that was refused, so that a person can see it. */
  readonly onRefused: HearRefusal;
  /** Receives errors of connections, which end nothing else. */
  readonly onError?: (error: unknown) => void;
}

/** A socket that takes the commands of people. */
export interface PeopleDoor {
  /** Opens the door for a process without a terminal, as long as this owner lives. Print it once, for scripts. */
  readonly token: string;
  /**
   * Begins to take commands.
   *
   * @throws RepriseError `invalid_argument` when the folder for sockets is not safe
   */
  listen(): Promise<void>;
  /** Ends the token and all connections. */
  close(): Promise<void>;
}

/**
 * Makes the people's door of a world, in the process that owns it. Processes at a terminal find it by a file in the home
 * folder of the user; when that cannot be written, `onError` is told, and only the token opens the door.
 *
 * @example const door = peopleDoor({ world: 'work.db', commands, onRefused: (refusal) => console.error(refusal.message) })
 */
export function peopleDoor(options: PeopleDoorOptions): PeopleDoor {
  requireArgument(
    isFields(options) && isFilled(options.world),
    'peopleDoor(options)',
    'an object with world, commands and onRefused',
    options,
  );
  requireCallable(options.onRefused, 'peopleDoor', 'options.onRefused');
  return new Door(options);
}

/** The doors that are open: a process that exits without closing them leaves no pass behind. */
const open = new Set<Door>();

process.on('exit', () => {
  for (const door of open) door.end();
});

class Door implements PeopleDoor {
  readonly token: string;
  readonly #pass: Pass;
  readonly #tokenKey = freshKey();
  readonly #socket: OwnerSocket;
  readonly #refusals: Refusals;
  #open = 0;

  constructor(private readonly options: PeopleDoorOptions) {
    const door = freshDoor();
    const place = doorPlace(door);
    this.#pass = { door, socket: place.socket, key: freshKey() };
    this.token = tokenOf({ door, key: this.#tokenKey });
    this.#refusals = new Refusals(options.onRefused);
    this.#socket = new OwnerSocket({ place, onError: (error) => options.onError?.(error) });
    this.#socket.welcome('people', (hello, wire) => this.#greet(hello, wire));
  }

  async listen(): Promise<void> {
    await this.#socket.listen();
    try {
      const before = writePass(this.options.world, this.#pass);
      open.add(this);
      if (before !== undefined) removeStale(before);
    } catch (cause) {
      const error = new RepriseError('store_failed', 'the pass for terminals cannot be written', {
        where: this.options.world,
        hint: 'Other terminals need the token: reprise tree run --print-token.',
        cause,
      });
      this.options.onError?.(error);
    }
  }

  async close(): Promise<void> {
    this.end();
    await this.#socket.close();
  }

  end(): void {
    open.delete(this);
    removePass(this.options.world, this.#pass);
  }

  /** Proves to a connection that this is the owner, and gives it a name to bear. */
  #greet(hello: Line, wire: LineSocket): Guest | undefined {
    const { door, by, nonce } = hello;
    const isKnown = door === this.#pass.door && (by === 'pass' || by === 'token') && typeof nonce === 'string';
    if (!isKnown) return void this.#refuse(wire, 'an attempt', 'its token is not known, or its owner has ended');
    if (this.#open >= PEOPLE_CONNECTIONS_MAX) return void wire.end();
    const key = by === 'token' ? this.#tokenKey : this.#pass.key;
    const [mine, name] = [freshKey(), freshName()];
    wire.send({ nonce: mine, name, signed: sign(key, ['owner', nonce, mine, name]) });
    this.#open++;
    const silent = setTimeout(() => wire.end(), BRIDGE_HELLO_MS);
    let isGiven = false;
    return {
      line: ({ command, signed }) => {
        if (isGiven || typeof command !== 'string') throw new Error('a line says nothing that is known');
        isGiven = true;
        clearTimeout(silent);
        if (!isSigned(key, ['command', nonce, mine, command], signed))
          return this.#refuse(wire, 'a command', 'it is not signed with the pass of this owner');
        const asked = parseJson(command) as Command;
        const why = this.#whyNot(asked, by, name);
        if (why !== undefined) return this.#refuse(wire, wordsOf(asked), why);
        wire.send({ taken: true });
        void this.#execute(asked, (answer) => {
          wire.send({ answer, signed: sign(key, ['answer', nonce, mine, answer]) });
        });
      },
      over: () => {
        clearTimeout(silent);
        this.#open--;
      },
    };
  }

  // D1, D2
  #whyNot({ coming }: Command, by: 'pass' | 'token', name: string): string | undefined {
    if (by === 'token') return coming === 'token' ? undefined : 'it says two things of itself';
    const said = coming === 'terminal' ? undefined : 'it says itself that no person started it at a terminal';
    if (!SHOWS_PROCESSES) return said;
    const bearers = bearersOf(name);
    if (bearers.length === 0) return said ?? 'its process cannot be seen';
    return bearers.map(whyNoPerson).find((why) => why !== undefined) ?? said;
  }

  async #execute({ verb, args }: Command, send: (answer: string) => void): Promise<void> {
    const said = await this.options.commands(verb, args).then(
      (value): OwnerSaid => ({ ok: true, value }),
      (error: unknown): OwnerSaid => ({ ok: false, ...failed(error) }),
    );
    try {
      send(JSON.stringify(said));
    } catch {
      const large = { ok: false, code: 'bound_exceeded', message: 'the answer is too large for a line' };
      send(JSON.stringify(large));
    }
  }

  // D3
  #refuse(wire: LineSocket, what: string, why: string): void {
    const refusal = refusedAt(`${what} at the people’s door`, why);
    wire.last({ refused: { code: refusal.code, message: refusal.message } });
    this.#refusals.tell(refusal);
  }
}

/** A command as people read it. */
function wordsOf({ verb, args }: Command): string {
  const { tree, n, as } = (args ?? {}) as { readonly tree?: unknown; readonly n?: unknown; readonly as?: unknown };
  const place = typeof tree === 'string' ? ` ${tree.slice(0, 100)}/#${Number(n)}` : '';
  return `${String(verb).slice(0, 40)}${place}${typeof as === 'string' ? ` as ${as.slice(0, 100)}` : ''}`;
}

/** Removes the door of an owner that was killed. The path is made anew from its name: a file says where nothing is. */
function removeStale({ door }: Pass): void {
  const { socket, folder } = doorPlace(door);
  rmSync(socket, { force: true });
  rmSync(path.resolve(folder), { recursive: true, force: true });
}

function failed(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof RepriseError) return { code: error.code, message: error.message };
  return { code: 'internal_error', message: error instanceof Error ? error.message : String(error) };
}
