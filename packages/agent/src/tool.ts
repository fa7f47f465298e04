/**
 * Tools: what an agent may call. A tool is a schema and a handler; the handler is *recorded* code, run once by
 * the adapter of `tool.call@1`, its result journaled as links, so a deploy may change it without touching a
 * recorded world.
 *
 * Owns: the tool definition. Does not own: the effect's contract (`contracts/tool-call.ts`), approval, batching, loop limits (the session
 * reducer's), what a tool may reach (the handler's).
 */
import type { Delivery, Value } from '@reprise/contracts';
import { RepriseError } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { decode, encode } from '@reprise/kernel';
import * as z from 'zod';
import type { ToolCallParams } from './contracts/tool-call.js';

/** What a handler is given besides its arguments. */
export interface ToolContext {
  /** Aborted on cancel, timeout and shutdown. */
  readonly signal: AbortSignal;
  /** The effect's id: hand it to services that take an idempotency key. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The world's content store. */
  readonly content: ContentStore;
  /** Tells watchers of this process how far the call is; never journaled. */
  progress(note: Value): void;
  /** The value of a secret by name; what it returns must not be part of the result. */
  secret(name: string): Promise<string>;
}

const TOOL_ERROR: unique symbol = Symbol.for('reprise.tool_error') as never;

/** A handler's refusal or failure, told to the model as text. Made by {@link toolError}. */
export interface ToolError {
  readonly [TOOL_ERROR]: true;
  readonly message: string;
}

/** What a handler answers: text, data (shown to the model as JSON), or a refusal. */
export type ToolResult = Value | ToolError;

/** A tool, as an agent lists it. Made by {@link defineTool}. */
export interface Tool<A = unknown> {
  readonly type: 'tool';
  readonly name: string;
  readonly description: string;
  readonly args: z.ZodType<A>;
  /** The JSON Schema of the arguments, as a model is told. */
  readonly schema: Value;
  readonly delivery: ToolCallParams['delivery'];
  readonly timeoutMs?: number;
  /** The handler. Takes arguments that have passed `args`. */
  run(args: A, context: ToolContext): ToolResult | Promise<ToolResult>;
}

/** What {@link defineTool} takes. */
export interface ToolSpec<S extends z.ZodType> {
  /** Letters, digits, `_` and `-`, at most 64: what every provider accepts. */
  readonly name: string;
  /** What it does and when to use it, in the words the model reads; at most 1024 characters. */
  readonly description: string;
  /** An object schema. It is parsed outside and once, so transforms and refinements are welcome where JSON Schema can tell them. */
  readonly args: S;
  /** Default `at_most_once`: after a crash the call is not repeated and the model is told the outcome is unknown. */
  readonly delivery?: Delivery;
  /** How long the handler may take. Default: as long as the effect's deadline. */
  readonly timeoutMs?: number;
  /** The handler. */
  run(args: z.output<S>, context: ToolContext): ToolResult | Promise<ToolResult>;
}

/**
 * Defines a tool.
 *
 * @param spec name, description, argument schema and handler
 * @throws RepriseError `invalid_definition` when no provider could be told of it, or its delivery is `reconcile`
 * @example
 * const add = defineTool({ name: 'add', description: 'Adds two integers.', args: z.strictObject({ a: z.int(), b: z.int() }),
 *   delivery: 'idempotent', run: ({ a, b }) => a + b })
 */
export function defineTool<S extends z.ZodType>(spec: ToolSpec<S>): Tool<z.output<S>> {
  const where = `tool ${spec.name}`;
  const delivery = spec.delivery ?? 'at_most_once';
  if (!isText(spec.name, 64) || !/^[a-zA-Z0-9_-]+$/.test(spec.name)) {
    throw unusable(where, 'a name of 1 to 64 of a–z A–Z 0–9 _ -', spec.name);
  }
  if (!isText(spec.description, 1024)) throw unusable(where, 'a description of at most 1024 characters', undefined);
  if (typeof spec.run !== 'function') throw unusable(where, 'a handler `run`', typeof spec.run);
  if (delivery !== 'idempotent' && delivery !== 'at_most_once') {
    throw unusable(where, 'delivery idempotent or at_most_once', delivery);
  }
  if (spec.timeoutMs !== undefined && !(Number.isSafeInteger(spec.timeoutMs) && spec.timeoutMs > 0)) {
    throw unusable(where, 'timeoutMs as a positive whole number of milliseconds', spec.timeoutMs);
  }
  return Object.freeze({
    type: 'tool' as const,
    name: spec.name,
    description: spec.description,
    args: spec.args as z.ZodType<z.output<S>>,
    schema: argsSchema(spec.args, where),
    delivery,
    ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),
    run: (args: z.output<S>, context: ToolContext) => spec.run(args, context),
  });
}

/** Answers a call with a refusal or failure that the model reads and can act on. */
export function toolError(message: string): ToolError {
  return { [TOOL_ERROR]: true, message };
}

/** Whether a handler's answer is a refusal. */
export function isToolError(result: ToolResult): result is ToolError {
  return typeof result === 'object' && result !== null && TOOL_ERROR in result;
}

/** The JSON Schema of a tool's arguments as canonical data: the same definition gives the same bytes. */
export function toolJsonSchema(tool: Tool): Value {
  return tool.schema;
}

/**
 * What is recorded of some tools: the canonical list that a `tools_ref` links. A model is told the name, the
 * description and the schema; the rest is how a call of it is to be delivered.
 */
export function describeTools(tools: readonly Tool[]): Value {
  return tools.map(({ name, description, schema, delivery, timeoutMs }) => ({
    name,
    description,
    schema,
    delivery,
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  }));
}

function isText(thing: unknown, lengthMax: number): boolean {
  return typeof thing === 'string' && thing.length <= lengthMax;
}

function argsSchema(args: z.ZodType, where: string): Value {
  const { $schema: _, ...schema } = jsonSchemaOf(args, where);
  if (schema.type !== 'object') throw unusable(where, 'an object schema for the arguments', schema.type);
  // Through the codec: sorted keys, no undefined, and a refusal of whatever has no canonical form.
  return decode(encode(schema as Value));
}

function jsonSchemaOf(args: z.ZodType, where: string): Record<string, unknown> {
  try {
    return z.toJSONSchema(args, { io: 'input' });
  } catch (cause) {
    throw new RepriseError('invalid_definition', 'the arguments cannot be told to a model as JSON Schema', {
      where,
      hint: 'Use objects, text, numbers, booleans, lists and unions; convert inside the handler.',
      cause,
    });
  }
}

function unusable(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_definition', 'this tool cannot be offered to a model', { where, expected, actual });
}
