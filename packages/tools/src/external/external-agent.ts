/**
 * Sessions whose agent is a separate program.
 *
 * The model of such a session is a relay (`relay()`): it passes each input to one tool, which runs a turn of the
 * program, and answers with the tool's result. So a turn is a call like any other: executed at most once, approved,
 * cancelled, truncated, recorded, and replayed without the program.
 */
import {
  type Agent,
  type Duration,
  defineAgent,
  defineTool,
  type Limits,
  type Tool,
  type ToolContext,
  type ToolEntry,
  toolError,
  toolParts,
} from '@reprise/agent';
import { lineOfError, RepriseError, requireFields, type Usage } from '@reprise/contracts';
import { concealArguments, concealVariables } from '@reprise/kernel';
import * as z from 'zod';
import type { Command } from '../process/group.js';
import { AcpProgram, type PermissionRequest, type Permissions } from './acp.js';
import { asPrompt } from './history.js';
import { MCP_CONFIG, type Serve, ServerList } from './served.js';
import { allPrinted, printed } from './stdout.js';

/** The answer to a program's permission request: ask people, or answer at once. */
export type PermissionVerdict = 'ask' | 'allow' | 'deny';

/** Answers a program's permission requests: with a constant answer, or with a rule. */
export type PermissionRule = PermissionVerdict | ((request: PermissionRequest) => PermissionVerdict);

/** The answer of a program, as read from its output. */
export interface ProgramAnswer {
  readonly text: string;
  /** What the turn used. It counts in the usage of the run, and against its limits. */
  readonly usage?: Usage;
}

/** A program that was started for a session. */
export interface StartedProgram {
  /** The id of its process group. */
  readonly group: number;
  /** Aborted when the program has ended. */
  readonly ended: AbortSignal;
}

/** Hears when the programs of an agent are started. */
export interface ProgramWatch {
  /** Called before a program is started for a session. What it throws keeps the program from being started. */
  starting(ctx: ToolContext): void | Promise<void>;
  /** Called in the turn of the event loop in which the program was started, before it is given anything. */
  started(ctx: ToolContext, program: StartedProgram): void;
}

/** Which program an agent is, and how it is spoken to. */
export interface ExternalAgentOptions {
  /** Letters, digits, `_` and `-`, at most 59. */
  readonly name: string;
  /** The program and its arguments, passed without a shell. */
  readonly command: readonly [program: string, ...args: string[]];
  /**
   * `acp`: the program speaks the Agent Client Protocol and lives as long as the world. `stdout`: it is started for
   * each turn, reads the prompt from its standard input, prints its answer and exits.
   */
  readonly protocol: 'acp' | 'stdout';
  /** The program's working folder. Default: the folder of this process. */
  readonly cwd?: string;
  /** Additional environment variables; a function that reads the world's secrets when the values are secret. */
  readonly env?:
    | Readonly<Record<string, string>>
    | ((given: { secret(name: string): Promise<string> }) => Promise<Readonly<Record<string, string>>>);
  /**
   * Gives the program MCP servers, for example with tools of this world. It is called at the beginning of each turn; a
   * program that speaks the Agent Client Protocol gets the servers when its own session is opened or loaded, and keeps
   * them. A program of the protocol `stdout` finds them in a file that only this user can read: `{mcp_config}` among
   * the arguments of `command` is its path.
   */
  readonly serve?: Serve;
  /**
   * Reads the output of a program of the protocol `stdout`: the text of its answer, and what it used. Without it the
   * output is the text.
   */
  readonly read?: (output: string) => ProgramAnswer | Promise<ProgramAnswer>;
  /**
   * How long a program that speaks the Agent Client Protocol lives. `world`: as long as the world. `turn`: it is ended
   * after each turn, before the turn's answer counts, and loads its own session at the next one. Default `world`.
   */
  readonly lives?: 'world' | 'turn';
  /** Hears when programs are started: for an app that must know them after this process was killed. */
  readonly watch?: ProgramWatch;
  /** Answers the program's permission requests. Default `ask`. */
  readonly permissions?: PermissionRule;
  /** The longest time for one turn. Default one hour. */
  readonly timeout?: Duration;
  /** What to do when the outcome of a turn is unknown. Default `tell_model`: the session's answer says so. */
  readonly onUnknown?: ToolEntry['on_unknown'];
  /** The alias of the relay. Default `relay`. */
  readonly model?: string;
  readonly limits?: Limits;
}

const ENV_PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TERM', 'USER', 'SHELL', 'SYSTEMROOT'] as const;

const NAME_LENGTH_MAX = 59;

const turnArgs = z.strictObject({
  text: z.string().min(1),
  /** The state from the last turn: the program's own session. */
  state: z.looseObject({ session: z.string().optional() }).optional(),
});

type TurnArgs = z.output<typeof turnArgs>;

/** The programs of each world's sessions, by the signal that aborts when the world closes. */
const worlds = new WeakMap<AbortSignal, Map<string, AcpProgram>>();

/**
 * Defines an agent that is a separate program. Open its world with a relay: `models: { relay: relay() }`.
 *
 * @throws RepriseError `invalid_definition`
 * @example
 * const helper = externalAgent({ name: 'helper', command: ['some-agent', 'acp'], protocol: 'acp', cwd: '/srv/project' })
 */
export function externalAgent(options: ExternalAgentOptions): Agent<readonly Tool[], string> {
  requireFields(options, 'externalAgent(options)', 'an object with name, command and protocol');
  const { name, protocol, model = 'relay', limits } = options;
  requireOptions(options);
  const tool = defineTool({
    name: `turn_${name}`,
    description: `A turn of ${name}.`,
    args: turnArgs,
    guarantee: 'at_most_once',
    family: 'external',
    parallel: false,
    polling: true, // turns may repeat, so loop detection is off
    timeout: options.timeout ?? '1h',
    onUnknown: options.onUnknown ?? 'tell_model',
    run: (args, ctx) => (protocol === 'acp' ? acpTurn(options, args, ctx) : stdoutTurn(options, args, ctx)),
  });
  const spec = { name, model, instructions: `Hands everything to ${name}.`, tools: [tool as Tool] };
  return defineAgent<readonly Tool[], string>({ ...spec, ...(limits === undefined ? {} : { limits }) });
}

async function stdoutTurn(options: ExternalAgentOptions, { text }: TurnArgs, ctx: ToolContext) {
  const { name, read, serve, watch } = options;
  await watch?.starting(ctx);
  const given = { ...(await commandOf(options, ctx)), stdin: await asPrompt(text, ctx) };
  const over = new AbortController();
  const file = serve === undefined ? undefined : (await ServerList.of(serve, ctx, over.signal)).file();
  const args = given.args.map((arg) => (file === undefined ? arg : arg.replaceAll(MCP_CONFIG, () => file.path)));
  const end = (): void => {
    over.abort();
    file?.remove();
  };
  const command = { ...given, args };
  const begun = (group: number): void => watch?.started(ctx, { group, ended: over.signal });
  if (read === undefined) return ending(printed(command, ctx, begun), end);
  const output = await allPrinted(command, ctx, begun).finally(end);
  const { text: said, usage } = await answerIn(name, output, read);
  return toolParts([said], usage === undefined ? {} : { usage });
}

async function* ending<T>(stream: AsyncIterable<T>, end: () => void): AsyncGenerator<T> {
  try {
    yield* stream;
  } finally {
    end();
  }
}

async function answerIn(
  name: string,
  output: string,
  read: NonNullable<ExternalAgentOptions['read']>,
): Promise<ProgramAnswer> {
  const answer = (await read(output)) as ProgramAnswer | undefined;
  if (typeof answer?.text === 'string') return answer;
  throw new RepriseError('invalid_value', `read of the external agent ${name} gave no text`, {
    expected: '{ text, usage? }',
  });
}

async function acpTurn(options: ExternalAgentOptions, { text, state }: TurnArgs, ctx: ToolContext) {
  const ready = await readyProgram(options, ctx);
  if (typeof ready === 'string') return toolError(`${options.name} could not be started; nothing was done. ${ready}`);
  try {
    return await ready.program.turn(text, state?.session, ctx, ready.servers);
  } finally {
    if (options.lives === 'turn') await ready.program.end();
  }
}

/** The session's program, and the servers of this turn. @returns the reason when there is no program */
async function readyProgram(options: ExternalAgentOptions, ctx: ToolContext) {
  try {
    const program = await programOf(options, ctx);
    return { program, servers: await ServerList.of(options.serve, ctx, program.ended) };
  } catch (error) {
    return error instanceof Error ? error.message : lineOfError(error);
  }
}

/** The session's program: the running one, or a new one. @throws the reason when there is no program */
async function programOf(options: ExternalAgentOptions, ctx: ToolContext): Promise<AcpProgram> {
  const { closing, session } = ctx;
  const own = worlds.get(closing) ?? new Map<string, AcpProgram>();
  worlds.set(closing, own);
  const key = `${options.name}/${session.key}`;
  const running = own.get(key);
  if (running?.alive === true) return running;
  await options.watch?.starting(ctx);
  const program = await AcpProgram.start(await commandOf(options, ctx), permissionsBy(options), ctx.scrubber, (begun) =>
    options.watch?.started(ctx, begun),
  );
  own.set(key, program);
  closing.addEventListener('abort', () => program.stop(), { once: true }); // acp/E4
  if (closing.aborted) program.stop();
  return program;
}

async function commandOf(
  { command: [program, ...args], cwd, env = {} }: ExternalAgentOptions,
  ctx: ToolContext,
): Promise<Command> {
  const passed = ENV_PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const own = typeof env === 'function' ? await env({ secret: (name) => ctx.secret(name) }) : env;
  if (ctx.scrubber !== undefined) {
    concealVariables(ctx.scrubber, own);
    concealArguments(ctx.scrubber, args);
  }
  return { program, args, cwd: cwd ?? process.cwd(), env: { ...Object.fromEntries(passed), ...own } };
}

function permissionsBy({ name, permissions = 'ask' }: ExternalAgentOptions): Permissions {
  return async (request, ctx) => {
    const verdict = typeof permissions === 'function' ? permissions(request) : permissions;
    if (verdict === 'allow') return request.options.find(({ kind }) => kind === 'allow_once')?.id;
    if (verdict === 'deny') return request.options.find(({ kind }) => kind === 'reject_once')?.id;
    const options = request.options.map(({ id, name: label }) => ({ id, label }));
    const answer = await ctx.ask({ question: `${name} asks for permission: ${request.title}`, options });
    return answer.how === 'answered' ? String(answer.value) : undefined;
  };
}

function requireOptions(options: ExternalAgentOptions): void {
  const { name, command, protocol, permissions = 'ask', serve, read, watch, lives = 'world' } = options;
  const hasPlace = Array.isArray(command) && command.slice(1).some((part) => String(part).includes(MCP_CONFIG));
  const rules: readonly (readonly [boolean, string, unknown])[] = [
    [
      typeof name === 'string' && /^[A-Za-z0-9_-]+$/.test(name) && name.length <= NAME_LENGTH_MAX,
      `a name of 1 to ${NAME_LENGTH_MAX} of a–z A–Z 0–9 _ -`,
      name,
    ],
    [
      Array.isArray(command) && command.length > 0 && command.every((part) => typeof part === 'string'),
      'command: [program, …args]',
      Array.isArray(command) ? 'a list with values that are not text' : typeof command, // an argument may be a secret
    ],
    [protocol === 'acp' || protocol === 'stdout', 'protocol acp or stdout', protocol],
    [
      typeof permissions === 'function' || ['ask', 'allow', 'deny'].includes(permissions),
      'permissions ask, allow, deny or a rule',
      permissions,
    ],
    [serve === undefined || typeof serve === 'function', 'serve: a function that gives MCP servers', typeof serve],
    [
      protocol !== 'stdout' || hasPlace === (serve !== undefined),
      `serve together with ${MCP_CONFIG} among the arguments of command, for the protocol stdout`,
      hasPlace ? `${MCP_CONFIG} without serve` : `serve without ${MCP_CONFIG}`,
    ],
    [lives === 'world' || lives === 'turn', 'lives world or turn', lives],
    [
      watch === undefined || (typeof watch.starting === 'function' && typeof watch.started === 'function'),
      'watch: an object with the functions starting and started',
      typeof watch,
    ],
    [
      read === undefined || (typeof read === 'function' && protocol === 'stdout'),
      'read: a function, for the protocol stdout',
      `${typeof read} for ${protocol}`,
    ],
  ];
  for (const [holds, expected, actual] of rules) {
    if (!holds)
      throw new RepriseError('invalid_definition', 'invalid external agent', {
        where: typeof name === 'string' ? `externalAgent ${name}` : 'externalAgent',
        expected,
        actual,
      });
  }
}
