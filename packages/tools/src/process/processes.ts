import { type ApprovalRule, type Duration, defineTool, durationMs, type Tool, type ToolContext } from '@reprise/agent';
import { aFlag, aList, isFilled, type KnownOptions, requireArgument, requireKnownOptions } from '@reprise/contracts';
import * as z from 'zod';
import { Confinement } from '../workspace/folder/confine.js';
import { backgroundTools } from './background.js';
import { outputOf } from './group.js';
import { ARG_UNITS_MAX, type Ask, argv, cwd, type ProcessContext, started } from './start.js';

/** Which programs may run, where, and which calls need approval. */
export interface ProcessOptions {
  /** The workspace folder: programs start in it, or in a folder below. It does not confine what they do. */
  readonly root: string;
  /** The programs that may run, as `argv[0]` names them. Default: any. */
  readonly programs?: readonly string[];
  /** Adds `run_shell`, which passes a command line to `/bin/sh`. Default false. */
  readonly shell?: boolean;
  /** Adds tools for background processes. Default false. */
  readonly background?: boolean;
  /** Names of environment variables that programs receive in addition to {@link ENV_NAMES}. */
  readonly pass?: readonly string[];
  /** The longest time for a program. Default two minutes. */
  readonly timeout?: Duration;
  /** Which calls need approval. Default `always`: a program can do anything that its user may do. */
  readonly approval?: ApprovalRule<{ readonly argv: readonly string[]; readonly cwd: string }>;
}

const PROCESS_OPTIONS: KnownOptions<ProcessOptions> = {
  root: true,
  programs: aList,
  shell: aFlag,
  background: aFlag,
  pass: aList,
  timeout: true,
  approval: true,
};

/** The environment variables that every program receives: enough to start and to print, and none with a secret. */
const ENV_NAMES: readonly string[] = Object.freeze(['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TERM']);

const SHELL = '/bin/sh';
const TIMEOUT_DEFAULT = '2m';

const stdin = z
  .string()
  .max(1024 * 1024)
  .optional()
  .describe('Text for its standard input. Default: none.');
const seconds = z.int().min(1).max(86_400).optional().describe('The most seconds it may run, if less than is allowed.');

/**
 * Makes tools that run programs: `run_process`, and optionally `run_shell`, `start_process`, `read_process`,
 * `write_process` and `kill_process`.
 *
 * A program gets its own process group, which is killed as a whole when its time is over, when the call is cancelled,
 * and when the world closes. Its full output is stored as content; the model gets a shortened form.
 *
 * @throws RepriseError `invalid_argument` when `timeout` is not a duration
 */
export function processes(options: ProcessOptions): Tool[] {
  requireKnownOptions(options, PROCESS_OPTIONS, 'processes', "Write processes({ root: '.', programs: ['git'] }).");
  requireArgument(isFilled(options.root), 'processes(options.root)', 'the path of a folder', options.root);
  const context: ProcessContext = {
    confinement: new Confinement(options.root),
    programs: options.programs,
    env: () => environment([...ENV_NAMES, ...(options.pass ?? [])]),
    passed: () => environment(options.pass ?? []),
    timeoutMs: durationMs(options.timeout ?? TIMEOUT_DEFAULT, 'timeout'),
    approval: options.approval ?? 'always',
  };
  return [
    runProcess(context),
    ...(options.shell === true ? [runShell(context)] : []),
    ...(options.background === true ? backgroundTools(context) : []),
  ];
}

function environment(names: readonly string[]): Record<string, string> {
  const pairs = names.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** Milliseconds that a call may take beyond its program: to kill it, and to store its output. */
const AFTERWARDS_MS = 30_000;

function runProcess(context: ProcessContext): Tool {
  return defineTool({
    name: 'run_process',
    description:
      'Runs a program in the workspace and answers with what it printed, standard output and error as they came, and its exit code at the end. No shell: arguments are passed unchanged.',
    args: z.strictObject({ argv, cwd, stdin, timeout_seconds: seconds }),
    guarantee: 'at_most_once',
    family: 'process',
    timeout: context.timeoutMs + AFTERWARDS_MS,
    approval: context.approval,
    run: (ask, ctx) =>
      running(
        context,
        { argv: ask.argv, cwd: ask.cwd, stdin: ask.stdin },
        ask.timeout_seconds,
        ctx,
        ask.argv.join(' '),
      ),
  });
}

function runShell(context: ProcessContext): Tool {
  const { approval } = context;
  const asProgram = (line: string): string[] => [SHELL, '-c', line];
  return defineTool({
    name: 'run_shell',
    description:
      'Runs a command line with /bin/sh in the workspace and answers with what it printed and its exit code.',
    args: z.strictObject({ command: z.string().min(1).max(ARG_UNITS_MAX), cwd, stdin, timeout_seconds: seconds }),
    guarantee: 'at_most_once',
    family: 'process',
    timeout: context.timeoutMs + AFTERWARDS_MS,
    approval:
      typeof approval === 'string'
        ? approval
        : ({ args, ...session }) => approval({ args: { argv: asProgram(args.command), cwd: args.cwd }, ...session }),
    run: (ask, ctx) =>
      running(
        { ...context, programs: undefined },
        { argv: asProgram(ask.command), cwd: ask.cwd, stdin: ask.stdin },
        ask.timeout_seconds,
        ctx,
        ask.command,
      ),
  });
}

/** How much of a command line is in the reports of its output. */
const PROGRAM_UNITS_MAX = 1_000;

/**
 * Starts a program and yields its output as the answer. What it prints is reported as it comes, for watchers:
 * `{ type: 'delta', channel: 'output', program, text }`.
 */
async function running(context: ProcessContext, ask: Ask, wanted: number | undefined, ctx: ToolContext, line: string) {
  // Nobody can write to it later: a program that reads without an input finds its end, and does not wait for one.
  const group = await started(context, { ...ask, stdin: ask.stdin ?? '' }, ctx.scrubber);
  if (!('pid' in group)) return group;
  const timeoutMs = Math.min((wanted ?? Number.POSITIVE_INFINITY) * 1_000, context.timeoutMs);
  return reported(outputOf(group, timeoutMs, [ctx.signal, ctx.closing]), line.slice(0, PROGRAM_UNITS_MAX), ctx);
}

async function* reported(output: AsyncIterable<Uint8Array | string>, program: string, ctx: ToolContext) {
  const decoder = new TextDecoder();
  for await (const piece of output) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    if (text !== '') ctx.progress({ type: 'delta', channel: 'output', program, text });
    yield piece;
  }
}
