/**
 * Agents that are programs of their own, as sessions.
 *
 * A session of such an agent has a relay for a model (`relay()`): it hands each input to one tool, which is a turn of
 * the program, and answers with what that came to. So a turn is a call like any other: made at most once, asked about,
 * cancelled, cut, recorded, and replayed without the program.
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

/** What becomes of something that a program asks leave for: people are asked, or it is answered at once. */
export type PermissionVerdict = 'ask' | 'allow' | 'deny';

/** Who answers what a program asks leave for: always the same, or by a rule. */
export type PermissionRule = PermissionVerdict | ((request: PermissionRequest) => PermissionVerdict);

/** What {@link externalAgent} takes. */
export interface ExternalAgentOptions {
  /** Letters, digits, `_` and `-`, at most 59. */
  readonly name: string;
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly [program: string, ...args: string[]];
  /**
   * `acp`: it speaks the Agent Client Protocol and lives as long as the world. `stdout`: it is started for each turn,
   * reads the prompt from its standard input, prints its answer and ends.
   */
  readonly protocol: 'acp' | 'stdout';
  /** The folder that it works in; the folder of this process when absent. */
  readonly cwd?: string;
  /** Its environment besides what programs need; a function of the secrets of the world when it holds some. */
  readonly env?:
    | Readonly<Record<string, string>>
    | ((given: { secret(name: string): Promise<string> }) => Promise<Readonly<Record<string, string>>>);
  /** Who answers what it asks leave for. Default `ask`. */
  readonly permissions?: PermissionRule;
  /** How long one turn may take. Default an hour. */
  readonly timeout?: Duration;
  /** What to do when nobody can tell whether a turn happened. Default `tell_model`: the session answers so. */
  readonly onUnknown?: ToolEntry['on_unknown'];
  /** The alias of the relay. Default `relay`. */
  readonly model?: string;
  readonly limits?: Limits;
}

const ENV_PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TERM', 'USER', 'SHELL', 'SYSTEMROOT'] as const;

const NAME_LENGTH_MAX = 59;

const turnArgs = z.strictObject({
  text: z.string().min(1),
  /** What the last turn wanted to remember: the session that the program holds for ours. */
  state: z.looseObject({ session: z.string().optional() }).optional(),
});

type TurnArgs = z.output<typeof turnArgs>;

/** The programs of the sessions of one world. The signal that the world closes stands for the world. */
const worlds = new WeakMap<AbortSignal, Map<string, AcpProgram>>();

/**
 * An agent that is a program of its own. Open its world with a relay: `models: { relay: relay() }`.
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
    polling: true, // turns are meant to be repeated: no loop is looked for in them
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

/** The program of a session: the one that runs, or another. @returns why there is none */
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
    closing.addEventListener('abort', () => program.stop(), { once: true }); // E4
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
    const answer = await ctx.ask({ question: `${name} asks for leave: ${request.title}`, options });
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
      Array.isArray(command) ? 'a list of other things than text' : typeof command, // an argument may be a secret
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
      throw new RepriseError('invalid_definition', 'this is not an external agent', {
        where: `externalAgent ${String(name)}`,
        expected,
        actual,
      });
  }
}
