/**
 * One running program, as its owner sees it: its turn, its connection, and the calls that it made.
 *
 * Invariants
 * G1  A call is one act however often it is sent: it keeps the turn in which it was first sent.
 * G2  A call counts only for the turn that is under way; which one that is, the program's own call to the world decides.
 * G3  One bridge speaks for a program at a time.
 */
import { checkRead, jsonSchema, type OwnerAnswered, type Tool } from '@reprise/agent';
import { isRepriseError, present, type Value } from '@reprise/contracts';
import type { LargeNumbers } from '@reprise/contracts/json';
import type { McpTool } from '@reprise/server';
import type { ServeContext } from '@reprise/tools/external';
import { toldOf } from './answers.js';
import { BRIDGE_ANSWERS_MAX, BRIDGE_CALLS_MAX, BRIDGE_FAULTS_MAX, BRIDGE_KNOWN_CALLS_MAX } from './limits.js';
import type { Line, LineSocket } from './lines.js';
import { refusal, type Told } from './refusal.js';
import type { Guest } from './socket.js';

interface Turn {
  readonly ctx: ServeContext;
  isOver: boolean;
}

interface Call {
  readonly turn: Turn;
  readonly name: string;
  running?: Promise<Told>;
  told?: Told;
}

/** What a program needs of its bridge's owner. */
export interface ProgramHost {
  readonly withinMs: number;
  /** What a program is told whose call waits longer. */
  readonly pending: string;
  /** The tools that are offered: a definition, or a description alone. */
  tools(ctx: ServeContext): Promise<readonly (McpTool | Tool)[]>;
  report(error: unknown, ctx: ServeContext): void;
}

/** The arguments of a call, and the numbers that stand in them as texts. */
interface Asked {
  readonly args: Value;
  readonly numbers: LargeNumbers;
}

const START = /^[a-z0-9]{8,32}$/;
const KEY = /^[A-Za-z0-9._-]{1,80}$/;
const NAME_LENGTH_MAX = 64;

function listedTool(tool: McpTool | Tool): Line {
  return 'entry' in tool
    ? { name: tool.name, description: tool.entry.description, inputSchema: tool.entry.schema }
    : { ...tool };
}

/** The turns of one running program: its calls belong to the turn under way. */
export class Program {
  #turn: Turn;
  #wire: { readonly line: LineSocket; readonly start: string } | undefined;
  #listed: string | undefined;
  #open = 0;
  #faults = 0;
  readonly #calls = new Map<string, Call>();
  readonly #answered: Call[] = [];

  constructor(
    ctx: ServeContext,
    private readonly host: ProgramHost,
  ) {
    this.#turn = { ctx, isOver: false };
  }

  turn(ctx: ServeContext): void {
    if (this.#turn.ctx === ctx) return;
    this.#turn.isOver = true;
    this.#turn = { ctx, isOver: false };
    void this.#tellChanged();
  }

  /** The program has ended: its turn is over, and its bridge is told so. */
  end(): void {
    this.#turn.isOver = true;
    this.#wire?.line.last({ error: 'no_turn' });
  }

  /** Takes in a bridge of the program (G3). */
  join(hello: Line, line: LineSocket): Guest | undefined {
    const start = String(hello.start);
    if (!START.test(start)) throw new Error('its first line names no start');
    if (this.#faults >= BRIDGE_FAULTS_MAX) return refuse(line, 'forbidden');
    if (this.#wire !== undefined && this.#wire.start !== start) return refuse(line, 'in_use');
    this.#wire?.line.end(); // the same bridge, which lost its connection
    const wire = { line, start };
    this.#wire = wire;
    line.send({ ok: true });
    return {
      line: (said, numbers) => this.#said(said, wire, argumentsOf(numbers)),
      over: (why) => {
        if (this.#wire === wire) this.#wire = undefined;
        if (why === undefined) return;
        this.#faults++;
        this.host.report(new Error(`the bridge of ${this.session} was closed: ${why}`), this.#turn.ctx);
      },
    };
  }

  /** The key of the session for which the program runs. */
  get session(): string {
    return this.#turn.ctx.session.key;
  }

  #said(said: Line, wire: { readonly line: LineSocket; readonly start: string }, numbers: LargeNumbers): void {
    const { list, call, name, args } = said;
    if (Number.isSafeInteger(list)) return void this.#list(list as number, wire.line);
    const isCall = typeof call === 'string' && KEY.test(call) && typeof name === 'string' && isObject(args);
    if (!isCall || name.length > NAME_LENGTH_MAX) throw new Error('a line says nothing that is known');
    const told = this.#call(`${wire.start}.${call}`, name, { args, numbers });
    void told.then((answer) => send(wire.line, { call, ...answer }));
  }

  async #list(list: number, wire: LineSocket): Promise<void> {
    const { ctx } = this.#turn;
    try {
      const tools = (await this.host.tools(ctx)).map(listedTool);
      this.#listed = JSON.stringify(tools);
      wire.send({ list, tools });
    } catch (error) {
      this.host.report(error, ctx);
      send(wire, { list, error: 'internal' });
    }
  }

  /** Tells the bridge that its tools are others than those that it listed. */
  async #tellChanged(): Promise<void> {
    const { ctx } = this.#turn;
    if (this.#listed === undefined) return;
    const tools = await this.host.tools(ctx).catch(() => undefined);
    if (tools !== undefined && JSON.stringify(tools.map(listedTool)) !== this.#listed)
      this.#wire?.line.send({ changed: true });
  }

  #call(id: string, name: string, asked: Asked): Promise<Told> {
    const known = this.#calls.get(id);
    if (known?.running !== undefined) return known.running; // G1
    if (known?.told !== undefined) return Promise.resolve(known.told);
    if (this.#open >= BRIDGE_CALLS_MAX) {
      return Promise.resolve(refusal('too_many_calls', `At most ${BRIDGE_CALLS_MAX} calls may be open.`));
    }
    const turn = known?.turn ?? this.#turn;
    if (known === undefined && turn.isOver) return Promise.resolve(NO_TURN);
    const call = known ?? { turn, name };
    this.#remember(id, call);
    this.#open++;
    call.running = this.#ask(call, id, asked).finally(() => {
      this.#open--;
      delete call.running;
    });
    return call.running;
  }

  #remember(id: string, call: Call): void {
    this.#calls.delete(id);
    this.#calls.set(id, call);
    const [oldest] = this.#calls;
    if (this.#calls.size > BRIDGE_KNOWN_CALLS_MAX && oldest !== undefined) this.#calls.delete(oldest[0]);
  }

  async #ask(call: Call, id: string, { args, numbers }: Asked): Promise<Told> {
    const { ctx } = call.turn;
    let answer: OwnerAnswered | 'pending';
    try {
      const offered = (await this.host.tools(ctx)).find(({ name }) => name === call.name);
      const [tool, described] = offered !== undefined && 'entry' in offered ? [offered] : [undefined, offered];
      if (numbers.count > 0) {
        const schema = tool?.args ?? jsonSchema(described?.inputSchema ?? {});
        const checked = await checkRead(schema, { data: args, ...numbers });
        if (!checked.ok)
          return refusal('tool_args_invalid', 'Numbers cannot be passed on.', { problems: checked.problems });
      }
      answer = await ctx.owner(call.name, args, { id, within: this.host.withinMs, ...present({ tool }) });
      if (answer === 'pending') return ctx.signal.aborted ? CANCELLED : { texts: [this.host.pending], isError: false };
      call.told = await toldOf(answer, ctx.content);
    } catch (error) {
      return this.#refused(error, call.turn);
    }
    this.#answered.push(call);
    if (this.#answered.length > BRIDGE_ANSWERS_MAX) delete this.#answered.shift()?.told;
    return call.told;
  }

  #refused(error: unknown, turn: Turn): Told {
    if (isOver(error)) {
      turn.isOver = true; // G2
      return NO_TURN;
    }
    if (isRepriseError(error, 'request_rejected')) {
      const code = String(error.details.reason);
      return refusal(code, REASONS[code] ?? 'The call was refused.');
    }
    if (isRepriseError(error, 'invalid_value')) {
      return refusal('tool_args_invalid', error.message, { problems: error.details.actual });
    }
    if (isRepriseError(error, 'request_conflict')) {
      return refusal('request_conflict', 'Another call was sent under this id.');
    }
    this.host.report(error, turn.ctx);
    return refusal('failed', 'The call failed in the owner of the world.');
  }
}

const NO_TURN = refusal('no_turn', 'No turn of this program is under way: nothing was done.');

const CANCELLED = refusal('cancelled', 'The turn was cancelled.');

const REASONS: Readonly<Record<string, string>> = {
  no_owner: 'The session has no owner that takes calls.',
  too_large: 'The arguments are too large.',
  too_many_calls: 'Too many calls are open.',
  already_open: 'A call with this id is open.',
};

/** Whether a call failed because its turn is over: the session says so or, once its effect has ended, the gate. */
function isOver(error: unknown): boolean {
  if (isRepriseError(error, 'request_rejected')) return error.details.reason === 'no_turn';
  return isRepriseError(error, 'cap_denied');
}

function refuse(line: LineSocket, error: string): undefined {
  line.last({ error });
}

/** Sends an answer; one that is beyond the bound of a line is replaced. */
function send(line: LineSocket, said: Line): void {
  try {
    line.send(said);
  } catch {
    line.send({ ...said, ...refusal('answer_too_large', 'The answer is too large.') });
  }
}

/** The large numbers of a line that stand in its arguments, seen from these. */
function argumentsOf({ count, large }: LargeNumbers): LargeNumbers {
  const inside = large.filter(({ path }) => path[0] === 'args');
  const own = inside.map(({ path, digits }) => ({ path: path.slice(1), digits }));
  return { count: own.length + count - large.length, large: own };
}

function isObject(value: unknown): value is { readonly [key: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
