/**
 * Tools: what an agent may call. A tool is a schema and recorded functions: they run once, outside, their results are
 * journaled, so a deploy may change them without touching a recorded world.
 *
 * Owns: the definition, and what is recorded of it (`ToolEntry`). Does not own: the effect's contract
 * (`contracts/tool-call.ts`), when the functions are called (`judge/`, `tool-adapter.ts`), batching and limits (the
 * session reducer's), what a tool may reach (the handler's).
 */
import { type Guarantee, type ON_UNKNOWN, RepriseError, type SessionInfo, type SessionOp } from '@reprise/contracts';
import { type ContentStore, encode, portableSha256, toHex } from '@reprise/kernel';
import type { ToolEntry } from '../contracts/agent-def.js';
import type { ToolContext } from './context.js';
import { type Duration, durationMs } from './duration.js';
import { DEFAULT_FAMILY } from './families.js';
import type { Keepable } from './json-value.js';
import type { ToolAnswer } from './result.js';
import { jsonSchemaOf, type OutputOf, type Schema } from './schema.js';

/** A call as an approval rule sees it. */
export interface CallToApprove<A> extends SessionInfo {
  /** Its arguments, as the schema made them. */
  readonly args: A;
}

/** What a rule says: nobody has to approve, somebody has to, or somebody has to for a reason that they are shown. */
export type ApprovalVerdict = boolean | { readonly reason: string; readonly to?: string };

/** Whether somebody has to approve a call before it is made. A rule that fails asks for approval. */
export type ApprovalRule<A> =
  | 'always'
  | 'never'
  | ((call: CallToApprove<A>) => ApprovalVerdict | Promise<ApprovalVerdict>);

/** What is known of a call that was interrupted. Only `not_done` permits another attempt. */
export type Reconciled<O> = { readonly done: O } | 'not_done' | 'unknown';

/**
 * A tool, as an agent lists it. Made by {@link defineTool}. Without parameters it is any tool: arguments and deps are
 * what a handler takes, so what nobody can give stands for all of them.
 */
export interface Tool<Name extends string = string, A = never, O = unknown, D = never> {
  readonly type: 'tool';
  readonly name: Name;
  /** What is recorded of it: what a model is told, and the terms of a call. */
  readonly entry: ToolEntry;
  /** Checks arguments. */
  readonly args: Schema;
  /** Checks what the handler answers, where the author says what that is. */
  readonly output?: Schema;
  readonly approval: ApprovalRule<A>;
  readonly resource?: (args: A) => string;
  /** The handler. Takes arguments that have passed `args`. */
  readonly run: (args: A, context: ToolContext<D>) => ToolAnswer<O> | Promise<ToolAnswer<O>>;
  readonly reconcile?: (args: A, context: ToolContext<D>) => Reconciled<O> | Promise<Reconciled<O>>;
  /** What a call asks of the session itself, for the tools that a session answers without an effect. */
  readonly operation?: (args: A, content: ContentStore) => Promise<SessionOp>;
}

/** What the handlers of some tools want from `openWorld({ deps })`: all of it together. Of tools of any kind it is not known. */
export type DepsOf<T extends readonly Tool[]> =
  T[number] extends Tool<string, never, unknown, infer D> ? ([D] extends [never] ? unknown : D) : unknown;

/** What {@link defineTool} takes. */
export interface ToolSpec<Name extends string, S extends Schema, O, D> {
  /** Letters, digits, `_` and `-`, at most 64: what every provider accepts. */
  readonly name: Name;
  /** What it does and when to use it, in the words the model reads; at most 1024 characters. */
  readonly description: string;
  /** An object schema of any library that follows the Standard Schema interface. */
  readonly args: S;
  /** The JSON Schema of the arguments, for a library that cannot tell it. */
  readonly jsonSchema?: object;
  /** What the handler's data has to be; of an answer that does not fit the model is told that the call was done and its result lost. */
  readonly output?: Schema<O>;
  /**
   * Default `at_most_once`: after a crash the call is not repeated, and the model is told that its outcome is unknown.
   * `reconcile` asks the function of that name first.
   */
  readonly guarantee?: Guarantee;
  /** Calls of one step with the same resource run one after another. */
  readonly resource?: (args: OutputOf<S>) => string;
  /** False: it runs alone. Default true. */
  readonly parallel?: boolean;
  /** It is meant to be repeated: loop detection passes it over. Default false. */
  readonly polling?: boolean;
  /** Which output policy counts; see `FAMILY_POLICIES`. Default `default`. */
  readonly family?: string;
  /** How long a call may take; ten minutes when it does not say. */
  readonly timeout?: Duration;
  /** Whether somebody has to approve a call. Default `never`. */
  readonly approval?: ApprovalRule<OutputOf<S>>;
  /** What to do when nobody can tell whether a call happened. Default `tell_model`. */
  readonly onUnknown?: (typeof ON_UNKNOWN)[number];
  /** The handler. */
  readonly run: (args: OutputOf<S>, context: ToolContext<D>) => ToolAnswer<O> | Promise<ToolAnswer<O>>;
  /** For guarantee `reconcile`: looks whether an interrupted call happened. */
  readonly reconcile?: (args: OutputOf<S>, context: ToolContext<D>) => Reconciled<O> | Promise<Reconciled<O>>;
}

/**
 * Defines a tool.
 *
 * @throws RepriseError `invalid_definition` when no provider could be told of it, or its options contradict each other
 * @example
 * const add = defineTool({ name: 'add', description: 'Adds two integers.', args: z.strictObject({ a: z.int(), b: z.int() }),
 *   guarantee: 'idempotent', run: ({ a, b }) => a + b })
 */
export function defineTool<const Name extends string, S extends Schema, O, D = unknown>(
  spec: ToolSpec<Name, S, O, D> & Keepable<O>,
): Tool<Name, OutputOf<S>, O, D> {
  const where = `tool ${String(spec.name)}`;
  assertUsable(spec as UncheckedSpec, where);
  return Object.freeze({
    type: 'tool' as const,
    name: spec.name,
    entry: toolEntryOf({
      name: spec.name,
      description: spec.description,
      schema: argsSchema(spec.args, spec.jsonSchema, where),
      kind: 'tool',
      guarantee: spec.guarantee ?? 'at_most_once',
      ...(spec.timeout === undefined ? {} : { timeout_ms: spanOf(spec.timeout, where) }),
      family: spec.family ?? DEFAULT_FAMILY,
      parallel: spec.parallel ?? true,
      polling: spec.polling ?? false,
      on_unknown: spec.onUnknown ?? 'tell_model',
    }),
    args: spec.args,
    ...(spec.output === undefined ? {} : { output: spec.output }),
    approval: spec.approval ?? 'never',
    ...(spec.resource === undefined ? {} : { resource: spec.resource }),
    run: spec.run,
    ...(spec.reconcile === undefined ? {} : { reconcile: spec.reconcile }),
  });
}

/** What a tool that a session answers itself is made of. */
export interface SessionToolSpec<Name extends string, S extends Schema> {
  readonly name: Name;
  readonly description: string;
  readonly args: S;
  readonly kind: Exclude<ToolEntry['kind'], 'tool'>;
  /** What a call asks of the session. */
  readonly operation: (args: OutputOf<S>, content: ContentStore) => Promise<SessionOp>;
}

/** Defines a tool that a session answers itself: no handler runs, the session's own rules decide. */
export function defineSessionTool<const Name extends string, S extends Schema>(
  spec: SessionToolSpec<Name, S>,
): Tool<Name, OutputOf<S>, never, unknown> {
  const { name, description, args, kind, operation } = spec;
  const run = (): never => {
    throw new RepriseError('internal_error', 'a call that a session answers itself reached a handler', { where: name });
  };
  const { entry } = defineTool({ name, description, args, guarantee: 'idempotent', polling: kind === 'wait', run });
  return Object.freeze({
    type: 'tool' as const,
    name,
    entry: toolEntryOf({ ...withoutFingerprint(entry), kind }),
    args,
    approval: 'never' as const,
    run,
    operation,
  });
}

/**
 * What is recorded of some tools: the list that a `tools_ref` links. A model is told the name, the description and the
 * schema; the rest is how a call of it is to be delivered.
 */
export function describeTools(tools: readonly Tool[]): readonly ToolEntry[] {
  return tools.map(({ entry }) => entry);
}

/** The bytes that a model is told of some tools: their names, descriptions and schemas, as JSON. */
export function toolsBytes(tools: readonly ToolEntry[]): number {
  if (tools.length === 0) return 0;
  const told = tools.map(({ name, description, schema }) => ({ name, description, schema }));
  return new TextEncoder().encode(JSON.stringify(told)).length;
}

/** An entry under the digest of everything else in it. */
export function toolEntryOf(rest: Omit<ToolEntry, 'fingerprint'>): ToolEntry {
  return Object.freeze({ ...rest, fingerprint: toHex(portableSha256(encode(rest))) });
}

function withoutFingerprint({ fingerprint: _, ...rest }: ToolEntry): Omit<ToolEntry, 'fingerprint'> {
  return rest;
}

function argsSchema(args: Schema, given: object | undefined, where: string): ToolEntry['schema'] {
  const schema = jsonSchemaOf(args, where, given);
  const type = (schema as { readonly type?: unknown }).type;
  if (type !== 'object') throw unusable(where, 'an object schema for the arguments', type);
  return schema;
}

function spanOf(timeout: Duration, where: string): number {
  try {
    return durationMs(timeout, 'timeout');
  } catch {
    throw unusable(where, "a timeout such as '10s'", timeout);
  }
}

/** What JavaScript callers may hand over, whatever the types say. */
type UncheckedSpec = Partial<Record<keyof ToolSpec<string, Schema, unknown, unknown>, unknown>>;

const isFunction = (thing: unknown): boolean => typeof thing === 'function';
const isText = (thing: unknown, lengthMax: number): boolean => typeof thing === 'string' && thing.length <= lengthMax;
const isOneOf = (thing: unknown, ...all: readonly unknown[]): boolean => all.includes(thing);

function assertUsable(spec: UncheckedSpec, where: string): void {
  const { name, description, args, guarantee, family, onUnknown, approval, reconcile } = spec;
  const rules: readonly (readonly [boolean, string, unknown])[] = [
    [isText(name, 64) && /^[a-zA-Z0-9_-]+$/.test(name as string), 'a name of 1 to 64 of a–z A–Z 0–9 _ -', name],
    [isText(description, 1024), 'a description of at most 1024 characters', typeof description],
    [isSchema(args), 'a schema with `~standard`', typeof args],
    [isFunction(spec.run), 'a handler `run`', typeof spec.run],
    [
      isOneOf(guarantee, undefined, 'idempotent', 'at_most_once', 'reconcile'),
      'guarantee idempotent, at_most_once or reconcile',
      guarantee,
    ],
    [
      (guarantee === 'reconcile') === isFunction(reconcile),
      'a function `reconcile` with guarantee reconcile, and with no other',
      `guarantee ${String(guarantee)}, reconcile ${typeof reconcile}`,
    ],
    [family === undefined || (isText(family, 64) && family !== ''), 'a family of 1 to 64 characters', family],
    [
      isOneOf(onUnknown, undefined, 'tell_model', 'ask_human', 'fail', 'retry'),
      'onUnknown tell_model, ask_human, fail or retry',
      onUnknown,
    ],
    [
      isOneOf(approval, undefined, 'always', 'never') || isFunction(approval),
      'approval always, never or a rule',
      approval,
    ],
    [spec.resource === undefined || isFunction(spec.resource), 'resource as a function', typeof spec.resource],
    [isOneOf(spec.parallel, undefined, true, false), 'parallel true or false', spec.parallel],
    [isOneOf(spec.polling, undefined, true, false), 'polling true or false', spec.polling],
    [spec.output === undefined || isSchema(spec.output), 'output as a schema with `~standard`', typeof spec.output],
  ];
  for (const [holds, expected, actual] of rules) if (!holds) throw unusable(where, expected, actual);
}

function isSchema(thing: unknown): boolean {
  const standard = (thing as Partial<Schema> | null | undefined)?.['~standard'];
  return isFunction(standard?.validate);
}

function unusable(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_definition', 'this tool cannot be offered to a model', { where, expected, actual });
}
