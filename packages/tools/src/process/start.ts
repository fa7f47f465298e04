/** Starts a program that a model requested, if it is allowed. */
import { type ApprovalRule, type ToolError, toolError } from '@reprise/agent';
import { concealVariables, type Scrubber } from '@reprise/kernel';
import * as z from 'zod';
import { type Confinement, refusal } from '../workspace/folder/confine.js';
import { refusing } from '../workspace/folder/refusing.js';
import { type Command, type ProcessGroup, startGroup } from './group.js';

/** The longest argument, in characters: Linux's own bound. */
export const ARG_UNITS_MAX = 128 * 1024;

/** The tool argument that names a program and its arguments. */
export const argv = z
  .array(z.string().max(ARG_UNITS_MAX))
  .min(1)
  .max(256)
  .describe('The program and its arguments, passed unchanged, without a shell.');

/** The tool argument that names a folder. */
export const cwd = z.string().max(4096).default('.').describe('Folder to run in, relative to the workspace.');

/** Shared by the tools of one toolset. */
export interface ProcessContext {
  readonly confinement: Confinement;
  readonly programs: readonly string[] | undefined;
  readonly env: () => Record<string, string>;
  /** The environment variables that the author passes on: any of them may be a secret. */
  readonly passed: () => Record<string, string>;
  readonly timeoutMs: number;
  readonly approval: ApprovalRule<{ readonly argv: readonly string[]; readonly cwd: string }>;
}

/** A request to run a program. */
export interface Ask {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly stdin?: string | undefined;
}

/** Starts a program. @throws a refusal */
export async function started(
  context: ProcessContext,
  ask: Ask,
  scrubber: Scrubber | undefined,
): Promise<ProcessGroup | ToolError> {
  if (scrubber !== undefined) concealVariables(scrubber, context.passed());
  const command = await refusing(() => commandOf(context, ask));
  if (!('program' in command)) return command;
  const group = await startGroup(command);
  return typeof group === 'string' ? toolError(`Refused: ${group}: ${JSON.stringify(ask.argv[0])}.`) : group;
}

async function commandOf(
  context: ProcessContext,
  { argv: [program = '', ...args], cwd: given, stdin: text }: Ask,
): Promise<Command> {
  if (context.programs !== undefined && !context.programs.includes(program)) {
    throw refusal(program, `it is not an allowed program; allowed are ${context.programs.join(', ')}`);
  }
  const place = await context.confinement.resolve(given, 'read');
  if (place.missing.length > 0 || (await context.confinement.isFile(place))) {
    throw refusal(given, 'there is no such folder');
  }
  return { program, args, cwd: place.real, env: context.env(), ...(text === undefined ? {} : { stdin: text }) };
}
