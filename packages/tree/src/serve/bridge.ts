/**
 * The tools of a session's owner, for programs: an MCP server that runs beside each program and passes its calls to the
 * process that owns the world.
 *
 * Invariants
 * B1  A program calls as its own session, while its own turn is under way, and as nothing else. Where the system shows
 *     what a process belongs to, a token counts from its own program only, though others have read it.
 * B2  What a program is given to prove itself ends with it, and stands in a file of this user only: in no argument, no
 *     journal, no content and no log.
 * B3  Nothing that a program or its bridge sends stops the owner, or another program.
 * B4  An attempt with a token that is not the program's is refused, does nothing, and is told to the owner.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Tool } from '@reprise/agent';
import {
  aFunction,
  aText,
  isFilled,
  type KnownOptions,
  RepriseError,
  requireKnownOptions,
  type SessionInfo,
  wholeFrom,
} from '@reprise/contracts';
import type { McpTool } from '@reprise/server';
import type { ProgramWatch, Serve, ServeContext, StartedProgram } from '@reprise/tools/external';
import { BRIDGE_HELLO_MS, BRIDGE_STRANGERS_MAX, BRIDGE_WITHIN_MS } from './limits.js';
import type { Line, LineSocket } from './lines.js';
import { orphanWatch } from './orphans.js';
import type { RunFile } from './owner-link.js';
import { placeOf, prepare, writeOwn } from './place.js';
import { bearersOf, freshName, isBelow, SHOWS_PROCESSES } from './processes.js';
import { Program, type ProgramHost } from './program.js';
import { Refusals, refusedAt } from './refusals.js';
import { type Guest, OwnerSocket } from './socket.js';
import { Tokens } from './tokens.js';

/** The tools that a session's program has: those that its owner answers. */
export type BridgeTools = (session: SessionInfo) => readonly (McpTool | Tool)[] | Promise<readonly (McpTool | Tool)[]>;

/** Where the tools of nodes are served, and to which programs. */
export interface BridgeOptions {
  /** The name of the MCP server, as programs see it: they put it before the names of tools. Default `tree`. */
  readonly name?: string;
  /** Words for the models of programs. */
  readonly instructions?: string;
  /** The tools; {@link Bridge.offer} may give them later. Without either, programs have none. */
  readonly tools?: BridgeTools;
  /** The path of the world's file, from which the path of the socket follows. Without it the bridge has its own. */
  readonly world?: string;
  /** How long a call waits for its answer, in milliseconds. Default 25,000: programs give up after some 60 seconds. */
  readonly withinMs?: number;
  /** What a program is told whose call waits longer. */
  readonly pending?: string;
  /** How often a client that asks for progress is told that its call waits, in milliseconds. Default 10,000. */
  readonly progressMs?: number;
  /** How long a bridge tries to reach an owner that is gone, in milliseconds. Default 30,000. */
  readonly reconnectMs?: number;
  /** Receives what broke, and attempts that were refused. Default: the world's `onError`. */
  readonly onError?: (error: unknown) => void;
}

/** Gives programs the tools of their session's owner. */
export interface Bridge {
  /** The name of the MCP server, as programs see it. */
  readonly name: string;
  /** For the option `serve` of an external agent. */
  readonly nodeTools: Serve;
  /** For the option `watch` of an external agent: ends what an earlier process left running. */
  readonly watch: ProgramWatch;
  /** Gives the bridge the tools that each session is offered. */
  offer(tools: BridgeTools): void;
  /** Listens. The first program makes it listen, too. */
  listen(): Promise<void>;
  /** Ends all tokens and connections. */
  close(): Promise<void>;
}

const OPTIONS: KnownOptions<BridgeOptions> = {
  name: {
    expected: '1 to 64 of a–z A–Z 0–9 _ -',
    fits: (name) => typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name),
  },
  instructions: aText,
  tools: aFunction,
  world: { expected: 'the path of a file', fits: isFilled },
  withinMs: wholeFrom(1),
  pending: aText,
  progressMs: wholeFrom(1),
  reconnectMs: wholeFrom(1),
  onError: aFunction,
};

/** Stands for the process group of a program that is about to be started: nobody speaks for it yet. */
const NOT_STARTED = -1;

const PENDING = JSON.stringify({
  status: 'pending',
  message: 'No answer yet. End your turn now: the answer will be in your next prompt.',
});

/**
 * Makes a bridge for the programs of one world.
 *
 * @throws RepriseError `invalid_argument`; `invalid_definition` when the MCP library is not installed
 * @example
 * const tree = bridge({ world: 'work.db', tools: () => [tool] })
 * const coder = externalAgent({ ...opencode(), serve: tree.nodeTools, watch: tree.watch })
 */
export function bridge(options: BridgeOptions = {}): Bridge {
  requireKnownOptions(options, OPTIONS, 'bridge');
  requireLibrary();
  return new Bridges(options);
}

class Bridges implements Bridge, ProgramHost {
  readonly name: string;
  readonly withinMs: number;
  readonly pending: string;
  readonly watch: ProgramWatch;
  readonly nodeTools: Serve = (ctx) => this.#serve(ctx);
  readonly #socket: OwnerSocket;
  readonly #tokens = new Tokens<Program>();
  readonly #programs = new WeakMap<AbortSignal, { readonly program: Program; readonly file: string }>();
  readonly #ends = new Set<() => void>();
  #tools: BridgeTools;

  constructor(private readonly options: BridgeOptions) {
    this.name = options.name ?? 'tree';
    this.withinMs = options.withinMs ?? BRIDGE_WITHIN_MS;
    this.pending = options.pending ?? PENDING;
    this.#tools = options.tools ?? (() => []);
    const place = placeOf(options.world);
    this.#socket = new OwnerSocket({ place, onError: (error) => this.#broke(error) });
    const orphans = orphanWatch(() => {
      prepare(place);
      return place.folder;
    });
    this.watch = {
      starting: (ctx) => {
        this.#groups.set(ctx.session.key, NOT_STARTED);
        return orphans.starting(ctx);
      },
      started: (ctx, started) => {
        this.#begun(ctx.session.key, started);
        orphans.started(ctx, started);
      },
    };
    this.#socket.welcome('program', (hello, wire) => this.#greet(hello, wire));
  }

  /** How many connections have shown a token, and have not yet shown who they are. */
  #unproven = 0;
  /** The process group of the latest program of each session. */
  readonly #groups = new Map<string, number>();
  readonly #refusals = new Refusals((refusal) => this.#broke(refusal));

  #begun(session: string, { group, ended }: StartedProgram): void {
    this.#groups.set(session, group);
    const over = (): void => {
      if (this.#groups.get(session) === group) this.#groups.delete(session);
    };
    ended.addEventListener('abort', over, { once: true });
  }

  /** Takes in a bridge that shows a token and, where the system tells it, that it is below the token's program (B1). */
  #greet(hello: Line, wire: LineSocket): Guest | undefined {
    const program = this.#tokens.find(String(hello.token));
    if (!(program instanceof Program)) {
      const why = program === 'ended' ? 'the program of its token has ended' : 'its token is not known';
      return this.#refuse(wire, program === 'ended' ? 'no_turn' : 'forbidden', why);
    }
    if (!SHOWS_PROCESSES) return this.#joined(program, hello, wire);
    if (this.#unproven >= BRIDGE_STRANGERS_MAX) return void wire.end();
    const name = freshName();
    let guest: Guest | undefined;
    let isProven = false;
    const proven = (): void => {
      if (isProven) return;
      isProven = true;
      clearTimeout(silent);
      this.#unproven--;
    };
    this.#unproven++;
    const silent = setTimeout(() => wire.end(), BRIDGE_HELLO_MS);
    wire.send({ name });
    return {
      line: (line, numbers) => {
        if (guest !== undefined) return guest.line(line, numbers);
        if (line.named !== true) throw new Error('it does not say who it is');
        proven();
        const why = this.#whyForeign(program, name);
        guest = why === undefined ? program.join(hello, wire) : this.#refuse(wire, 'forbidden', why);
      },
      over: (why) => {
        proven();
        if (guest !== undefined) guest.over(why);
        else if (why !== undefined)
          this.#refusals.tell(refusedAt('a call of a program', `its connection broke: ${why}`));
      },
    };
  }

  /** Takes in a bridge whose process cannot be seen: a second one may have stolen the token. */
  #joined(program: Program, hello: Line, wire: LineSocket): Guest | undefined {
    const guest = program.join(hello, wire);
    const why = `a second process shows the token of ${program.session}, or one that broke the protocol too often`;
    if (guest === undefined) this.#refusals.tell(refusedAt('a call of a program', why));
    return guest;
  }

  #whyForeign({ session }: Program, name: string): string | undefined {
    const group = this.#groups.get(session) ?? process.pid; // without `watch` no more is known than that it is below here
    const bearers = bearersOf(name);
    if (bearers.length === 0) return `it shows the token of ${session}, and its process cannot be seen`;
    const foreign = bearers.find((pid) => !isBelow(pid, group));
    if (foreign === undefined) return undefined;
    return `it shows the token of ${session}, to whose program process ${foreign} does not belong`;
  }

  // B4
  #refuse(wire: LineSocket, error: 'no_turn' | 'forbidden', why: string): undefined {
    wire.last({ error });
    this.#refusals.tell(refusedAt('a call of a program', why));
  }

  offer(tools: BridgeTools): void {
    this.#tools = tools;
  }

  #listening: Promise<void> | undefined;

  listen(): Promise<void> {
    this.#listening ??= this.#socket.listen().then(() => this.#sweep());
    return this.#listening;
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await this.#socket.close();
    this.#listening = undefined;
  }

  async tools({ session }: ServeContext): Promise<readonly (McpTool | Tool)[]> {
    return this.#tools(session);
  }

  report(error: unknown, ctx: ServeContext): void {
    if (this.options.onError === undefined) ctx.report?.(error);
    else this.options.onError(error);
  }

  /** Reports what no program is known to have done; without an `onError`, by the world of the latest program. */
  #broke(error: unknown): void {
    if (this.options.onError !== undefined) this.options.onError(error);
    else this.#latest?.report?.(error);
  }

  #latest: ServeContext | undefined;

  async #serve(ctx: ServeContext): Promise<readonly { name: string; command: string; args: readonly string[] }[]> {
    await this.listen();
    this.#latest = ctx;
    const known = this.#programs.get(ctx.programEnded);
    known?.program.turn(ctx);
    const file = known?.file ?? this.#begin(ctx);
    return [{ name: this.name, command: process.execPath, args: [...bridgeArguments(), '--run', file] }];
  }

  /** Gives a program its token (B2). @returns the file in which it stands */
  #begin(ctx: ServeContext): string {
    const { place } = this.#socket;
    const program = new Program(ctx, this);
    const { token, end } = this.#tokens.give(program);
    ctx.scrubber?.conceal(token);
    const file = path.join(place.folder, `run-${randomUUID()}.json`);
    const { instructions, progressMs, reconnectMs } = this.options;
    const run: RunFile = { socket: place.socket, token, name: this.name, instructions, progressMs, reconnectMs };
    writeOwn(file, run);
    const over = (): void => {
      if (!this.#ends.delete(over)) return;
      end();
      program.end();
      rmSync(file, { force: true });
    };
    this.#ends.add(over);
    for (const signal of [ctx.programEnded, ctx.closing]) {
      signal.addEventListener('abort', over, { once: true });
      if (signal.aborted) over();
    }
    this.#programs.set(ctx.programEnded, { program, file });
    return file;
  }

  /** Removes what a killed owner left of its programs: their tokens ended with it. */
  #sweep(): void {
    const { folder } = this.#socket.place;
    for (const name of readdirSync(folder))
      if (name.startsWith('run-')) rmSync(path.join(folder, name), { force: true });
  }
}

/** The arguments that start a bridge: the built file or, where this module was not built either, its source. */
function bridgeArguments(): readonly string[] {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return [createRequire(here).resolve('#bridge')];
  const loader = pathToFileURL(createRequire(here).resolve('tsx')).href;
  return ['--conditions=@reprise/source', '--import', loader, fileURLToPath(new URL('./bridge-bin.ts', here))];
}

function requireLibrary(): void {
  try {
    createRequire(import.meta.url).resolve('@modelcontextprotocol/server');
  } catch {
    throw new RepriseError('invalid_definition', 'the bridge needs a package that is not installed', {
      where: 'bridge',
      expected: '@modelcontextprotocol/server',
      hint: 'npm install @modelcontextprotocol/server',
    });
  }
}
