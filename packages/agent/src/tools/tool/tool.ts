/**
 * Tools that an agent may call. A tool is a schema and functions: the functions run once, outside, and their results
 * are journaled, so a deploy may change them without affecting a recorded world.
 *
 * Owns: the definition, and its recorded form (`ToolEntry`). Does not own: the schemas of the effect
 * (`contracts/tool-call.ts`), when the functions are called (`judge/`, `tool-adapter.ts`), batching and limits (the
 * session reducer), what a tool may access (the handler).
 */
import {
  fieldsOf,
  type Guarantee,
  hintOf,
  isFields,
  isTextWithin,
  kindOfThing,
  type ON_UNKNOWN,
  RepriseError,
  requireArgument,
  type SessionInfo,
  type SessionOp,
  unknownFields,
} from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { encode, portableSha256, toHex } from '@reprise/kernel/codec';
import type { ToolEntry } from '../../contracts/agent-def.js';
import { type Duration, durationMs } from '../../contracts/duration.js';
import { DEFAULT_FAMILY } from '../output/families.js';
import type { Keepable } from '../output/json-value.js';
import type { ToolAnswer } from '../output/result.js';
import { type ArgsSchema, jsonSchemaOf, type OutputOf, refuseZod3, type Schema } from '../schema/schema.js';
import type { ToolContext } from './context.js';

/** A call as an approval rule sees it. */
export interface CallToApprove<A> extends SessionInfo {
  /** The arguments after the schema's conversion. */
  readonly args: A;
}

/** The decision of a rule: no approval, an approval, or an approval with a reason that the person is shown. */
export type ApprovalVerdict = boolean | { readonly reason: string; readonly to?: string };

/** Decides whether a person has to approve a call before it is made. A rule that fails requires an approval. */
export type ApprovalRule<A> =
  | 'always'
  | 'never'
  | ((call: CallToApprove<A>) => ApprovalVerdict | Promise<ApprovalVerdict>);

/** The outcome of an interrupted call, as far as it is known. Only `not_done` permits another attempt. */
export type Reconciled<O> = { readonly done: O } | 'not_done' | 'unknown';

/**
 * A tool, as an agent lists it. Made by {@link defineTool}. Without parameters it is any tool: arguments and deps are
 * then `never`, which every handler's type accepts.
 */
export interface Tool<Name extends string = string, A = never, O = unknown, D = never> {
  readonly type: 'tool';
  readonly name: Name;
  /** The recorded form: the name, description and schema for a model, and the terms of a call. */
  readonly entry: ToolEntry;
  /** The schema that arguments must fit before the handler runs. */
  readonly args: Schema;
  /** Checks the handler's answer, when the tool has an output schema. */
  readonly output?: Schema;
  readonly approval: ApprovalRule<A>;
  readonly resource?: (args: A) => string;
  /** The handler. Takes arguments that have passed `args`. */
  readonly run: (args: A, context: ToolContext<D>) => ToolAnswer<O> | Promise<ToolAnswer<O>>;
  readonly reconcile?: (args: A, context: ToolContext<D>) => Reconciled<O> | Promise<Reconciled<O>>;
  /** The session operation of a call, for tools that a session executes without an effect. */
  readonly operation?: (args: A, content: ContentStore, session: SessionInfo) => Promise<SessionOp>;
}

/** The `deps` that the handlers of some tools need together; `unknown` for tools of any type. */
export type DepsOf<T extends readonly Tool[]> =
  T[number] extends Tool<string, never, unknown, infer D> ? ([D] extends [never] ? unknown : D) : unknown;

/** The parts of a tool that an author writes. */
export interface ToolSpec<Name extends string, S extends Schema, O, D> {
  /** Letters, digits, `_` and `-`, at most 64: every provider accepts such names. */
  readonly name: Name;
  /** The tool's purpose and when to use it, in the words that the model reads; at most 1024 characters. */
  readonly description: string;
  /** An object schema of any library that implements the Standard Schema interface. */
  readonly args: S;
  /** The JSON Schema of the arguments, for a library that does not provide it. */
  readonly jsonSchema?: object;
  /**
   * The schema of the handler's data. When an answer does not fit, the model is told that the call was done and its
   * result lost.
   */
  readonly output?: Schema<O>;
  /**
   * Default `at_most_once`: after a crash the call is not repeated, and the model is told that its outcome is unknown.
   * `reconcile` first calls the function with that name.
   */
  readonly guarantee?: Guarantee;
  /** Calls of one step with the same resource run one after another. */
  readonly resource?: (args: OutputOf<S>) => string;
  /** `false`: the call runs alone. Default `true`. */
  readonly parallel?: boolean;
  /** `true`: the tool is meant to be repeated, and loop detection ignores it. Default `false`. */
  readonly polling?: boolean;
  /** The family that selects the output policy; see `FAMILY_POLICIES`. Default `default`. */
  readonly family?: string;
  /** How long a call may take; ten minutes when absent. */
  readonly timeout?: Duration;
  /** Whether a person has to approve a call. Default `never`. */
  readonly approval?: ApprovalRule<OutputOf<S>>;
  /** The reaction when the outcome of a call is unknown. Default `tell_model`. */
  readonly onUnknown?: (typeof ON_UNKNOWN)[number];
  /** Executes a call whose arguments fit `args`. */
  readonly run: (args: OutputOf<S>, context: ToolContext<D>) => ToolAnswer<O> | Promise<ToolAnswer<O>>;
  /** For guarantee `reconcile`: checks whether an interrupted call happened. */
  readonly reconcile?: (args: OutputOf<S>, context: ToolContext<D>) => Reconciled<O> | Promise<Reconciled<O>>;
}

/**
 * Defines a tool.
 *
 * @throws RepriseError `invalid_definition` when no provider accepts the tool, or its options contradict each other
 * @example
 * const add = defineTool({ name: 'add', description: 'Adds two integers.', args: z.strictObject({ a: z.int(), b: z.int() }),
 *   guarantee: 'idempotent', run: ({ a, b }) => a + b })
 */
export function defineTool<const Name extends string, S extends Schema, O, D = unknown>(
  spec: ToolSpec<Name, S, O, D> & Keepable<O> & { readonly args: ArgsSchema<S> },
): Tool<Name, OutputOf<S>, O, D> {
  const where = whereOf(spec);
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

/** The parts of a tool that a session executes itself. */
export interface SessionToolSpec<Name extends string, S extends Schema> {
  readonly name: Name;
  readonly description: string;
  readonly args: S;
  /** The JSON Schema of the arguments, for a schema that does not provide it. */
  readonly jsonSchema?: object;
  readonly kind: Exclude<ToolEntry['kind'], 'tool'>;
  /** The session operation of a call. */
  readonly operation: (args: OutputOf<S>, content: ContentStore, session: SessionInfo) => Promise<SessionOp>;
}

/** Defines a tool that a session executes itself: no handler runs. */
export function defineSessionTool<const Name extends string, S extends Schema>(
  spec: SessionToolSpec<Name, S>,
): Tool<Name, OutputOf<S>, never, unknown> {
  const { name, description, args, jsonSchema, kind, operation } = spec;
  const run = (): never => {
    throw new RepriseError('internal_error', 'a call that the session executes reached a handler', { where: name });
  };
  const told = jsonSchema === undefined ? {} : { jsonSchema };
  const { entry } = defineTool({
    name,
    description,
    args: args as Schema,
    ...told,
    guarantee: 'idempotent',
    polling: kind === 'wait',
    run,
  });
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
 * The recorded list of some tools, which a `tools_ref` links. A model is told the name, the description and the schema;
 * the other fields state how a call is executed.
 */
export function describeTools(tools: readonly Tool[]): readonly ToolEntry[] {
  const fits = Array.isArray(tools) && tools.every((tool) => fieldsOf(tool).type === 'tool');
  requireArgument(fits, 'describeTools(tools)', 'a list of tools that defineTool made', tools);
  return tools.map(({ entry }) => entry);
}

/** The bytes of tools as a model is told them: their names, descriptions and schemas, as JSON. */
export function toolsBytes(tools: readonly ToolEntry[]): number {
  if (tools.length === 0) return 0;
  const told = tools.map(({ name, description, schema }) => ({ name, description, schema }));
  return new TextEncoder().encode(JSON.stringify(told)).length;
}

/** Adds the digest of all other fields to an entry. */
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

/** Checks what the types already require, for callers in JavaScript. */
type UncheckedSpec = Partial<Record<keyof ToolSpec<string, Schema, unknown, unknown>, unknown>>;

/** The options of a tool. A misspelled option, such as `aproval`, would otherwise be ignored. */
const SPEC_FIELDS: Readonly<Record<keyof UncheckedSpec, true>> = {
  name: true,
  description: true,
  args: true,
  jsonSchema: true,
  output: true,
  guarantee: true,
  resource: true,
  parallel: true,
  polling: true,
  family: true,
  timeout: true,
  approval: true,
  onUnknown: true,
  run: true,
  reconcile: true,
};

/** What other libraries call an option. */
const ELSEWHERE = {
  inputSchema: 'args',
  parameters: 'args',
  schema: 'args',
  execute: 'run',
  handler: 'run',
  needsApproval: 'approval',
  outputSchema: 'output',
};

const isFunction = (thing: unknown): boolean => typeof thing === 'function';
const isText = (thing: unknown, lengthMax: number): boolean =>
  typeof thing === 'string' && isTextWithin(thing, lengthMax);
const isOneOf = (thing: unknown, ...all: readonly unknown[]): boolean => all.includes(thing);

/** Where a definition stands, for errors: callers may be untyped. */
function whereOf(spec: unknown): string {
  if (!isFields(spec))
    throw unusable('defineTool(spec)', 'an object with name, description, args and run', kindOfThing(spec));
  return typeof spec.name === 'string' ? `tool ${spec.name}` : 'tool';
}

function assertUsable(spec: UncheckedSpec, where: string): void {
  const { name, description, args, guarantee, family, onUnknown, approval, reconcile } = spec;
  refuseZod3(args, where);
  const rules: readonly (readonly [boolean, string, unknown])[] = [
    [
      isText(name, 64) && /^[a-zA-Z0-9_-]+$/.test(name as string),
      'a name of 1 to 64 of a–z A–Z 0–9 _ -',
      kindOfThing(name),
    ],
    [isText(description, 1024), 'a description of at most 1024 characters', kindOfThing(description)],
    [isSchema(args), 'args as a schema, such as z.strictObject({ … })', kindOfThing(args)],
    [isFunction(spec.run), 'a handler `run`', kindOfThing(spec.run)],
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
    [
      spec.output === undefined || isSchema(spec.output),
      'output as a schema, such as z.strictObject({ … })',
      typeof spec.output,
    ],
  ];
  requireKnownFields(spec, where);
  for (const [holds, expected, actual] of rules) if (!holds) throw unusable(where, expected, actual);
}

/** Before all else: with a misspelled option, the one that it was meant for is missing. */
function requireKnownFields(spec: UncheckedSpec, where: string): void {
  const [unknown] = unknownFields(spec, SPEC_FIELDS);
  if (unknown === undefined) return;
  throw new RepriseError('invalid_definition', `unknown option "${unknown}" of defineTool`, {
    where,
    expected: Object.keys(SPEC_FIELDS).join(', '),
    actual: unknown,
    ...hintOf(unknown, SPEC_FIELDS, ELSEWHERE),
  });
}

function isSchema(thing: unknown): boolean {
  const standard = (thing as Partial<Schema> | null | undefined)?.['~standard'];
  return isFunction(standard?.validate);
}

function unusable(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_definition', 'invalid tool definition', { where, expected, actual });
}
