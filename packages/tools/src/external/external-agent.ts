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
} from '@reprise/agent';
import { RepriseError } from '@reprise/contracts';
import { concealArguments, concealVariables } from '@reprise/kernel';
import * as z from 'zod';
import type { Command } from '../process/group.js';
import { AcpProgram, type PermissionRequest, type Permissions } from './acp.js';
import { asPrompt } from './history.js';
import { printed } from './stdout.js';

/** The answer to a program's permission request: ask people, or answer at once. */
export type PermissionVerdict = 'ask' | 'allow' | 'deny';

/** Answers a program's permission requests: with a constant answer, or with a rule. */
export type PermissionRule = PermissionVerdict | ((request: PermissionRequest) => PermissionVerdict);

/** Options of {@link externalAgent}. */
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
  return printed({ ...(await commandOf(options, ctx)), stdin: await asPrompt(text, ctx) }, ctx);
}

async function acpTurn(options: ExternalAgentOptions, { text, state }: TurnArgs, ctx: ToolContext) {
  const program = await programOf(options, ctx);
  if (typeof program === 'string')
    return toolError(`${options.name} could not be started; nothing was done. ${program}`);
  return program.turn(text, state?.session, ctx);
}

/** The session's program: the running one, or a new one. @returns the reason when there is no program */
async function programOf(options: ExternalAgentOptions, ctx: ToolContext): Promise<AcpProgram | string> {
  const { closing, session } = ctx;
  const own = worlds.get(closing) ?? new Map<string, AcpProgram>();
  worlds.set(closing, own);
  const key = `${options.name}/${session.key}`;
  const running = own.get(key);
  if (running?.alive === true) return running;
  try {
    const program = await AcpProgram.start(await commandOf(options, ctx), permissionsBy(options), ctx.scrubber);
    own.set(key, program);
    closing.addEventListener('abort', () => program.stop(), { once: true }); // acp/E4
    if (closing.aborted) program.stop();
    return program;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
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

function requireOptions({ name, command, protocol, permissions = 'ask' }: ExternalAgentOptions): void {
  const rules: readonly (readonly [boolean, string, unknown])[] = [
    [
      /^[A-Za-z0-9_-]+$/.test(String(name)) && name.length <= NAME_LENGTH_MAX,
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
  ];
  for (const [holds, expected, actual] of rules) {
    if (!holds)
      throw new RepriseError('invalid_definition', 'invalid external agent', {
        where: `externalAgent ${String(name)}`,
        expected,
        actual,
      });
  }
}
