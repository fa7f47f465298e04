/** Operations: what processes of a fleet can have done in a world, wherever it is open. */
import { isFunction, isObject, RepriseError, requireArgument, requireFields, type Value } from '@reprise/contracts';
import { decode, encode, type RequestOptions } from '@reprise/kernel';
import { CALL_BYTES_MAX } from './wire/outcome.js';

/** What checks the input or the output of an operation: any schema of zod. It is asked at both ends, so it may transform nothing. */
export interface OperationSchema<T> {
  /** Whether a value fits, and the value as the schema reads it. */
  safeParse(value: unknown): { readonly success: boolean; readonly data?: T | undefined; readonly error?: unknown };
}

/** On whose behalf an operation runs, and how long. */
export interface OperationContext {
  /**
   * The request id and the principal of the call: pass it on to `world.request`, `session.send` and the like. **It is what
   * makes a repeated call safe**: a call that had no answer is made again, here or at another process, and the world
   * recognizes a request by its id. An operation that sends several requests derives an id for each:
   * `{ ...request, id: request.id + '/pay' }`.
   */
  readonly request: OperationRequest;
  /** Aborted when the caller stops waiting, its time is over, or its process is gone. What was requested stays. */
  readonly signal: AbortSignal;
}

/** A request id with the principal for which it is used, and the actor when the caller named one. */
export type OperationRequest = Required<Pick<RequestOptions, 'id' | 'as'>> & Pick<RequestOptions, 'actor'>;

/** A named operation of worlds of one kind. Made by {@link defineOperation}. */
export interface Operation<W = never, I = unknown, O = unknown> {
  /** The name by which processes know it. */
  readonly name: string;
  readonly input: OperationSchema<I>;
  readonly output: OperationSchema<O>;
  /** Does it in an open world, in the process that has the world open. */
  run(world: W, input: I, context: OperationContext): Promise<O> | O;
}

/** A name such as `shop/order@1`: an operation whose meaning changes gets the next number. */
const NAME = /^[A-Za-z0-9._-]{1,64}(?:\/[A-Za-z0-9._-]{1,64}){0,3}@[1-9]\d{0,5}$/;

/**
 * Defines an operation. Its input and its output are values, as those of events are: no dates, functions or class
 * instances. Both are checked in the process that has the world open, and the input before it is sent, too.
 *
 * @param operation `run` may be called more than once for one call: see {@link OperationContext.request}
 * @throws RepriseError `invalid_argument`
 * @example
 * const order = defineOperation({
 *   name: 'shop/order@1',
 *   input: z.strictObject({ item: z.string() }),
 *   output: z.strictObject({ frame: z.int() }),
 *   run: async (world: World, { item }, { request }) => {
 *     const { seq } = await world.request(SHOP, { name: 'shop/Ordered@1', value: { item } }, request)
 *     return { frame: seq }
 *   },
 * })
 */
export function defineOperation<W, I, O>(operation: Operation<W, I, O>): Operation<W, I, O> {
  requireFields(operation, 'defineOperation(operation)', 'an object with name, input, output and run');
  const { name, input, output, run } = operation;
  const isNamed = typeof name === 'string' && NAME.test(name);
  requireArgument(isNamed, 'defineOperation(name)', 'a name with a version, such as shop/order@1', name);
  for (const [field, schema] of Object.entries({ input, output }))
    requireArgument(
      isObject(schema) && isFunction(schema.safeParse),
      `defineOperation(${field})`,
      'a schema of zod',
      schema,
    );
  requireArgument(isFunction(run), 'defineOperation(run)', 'a function', run);
  return Object.freeze({ name, input, output, run });
}

/** The bytes of an input. @throws RepriseError `invalid_argument`, `invalid_value`, `bound_exceeded` */
export function writeInput({ name, input }: Operation, value: unknown): Uint8Array {
  parsed(input, value, () => ({ code: 'invalid_argument', what: `invalid input of the operation ${name}` }));
  return bounded(encode(value), `the input of the operation ${name}`);
}

/** The input as the operation reads it. @throws RepriseError `invalid_argument` */
export function readInput<I>({ name, input }: Operation<never, I>, bytes: Uint8Array): I {
  const refusal = () => ({ code: 'invalid_argument', what: `invalid input of the operation ${name}` }) as const;
  return parsed(input, decode(bytes), refusal);
}

/** The bytes of an output. @throws RepriseError `operation_failed`, `bound_exceeded` */
export function writeOutput({ name, output }: Operation, value: unknown): Uint8Array {
  const what = `the operation ${name} returned something else than its output`;
  const checked = parsed(output, value, () => ({ code: 'operation_failed', what }));
  try {
    return bounded(encode(checked), `the output of the operation ${name}`);
  } catch (error) {
    if ((error as RepriseError).code === 'bound_exceeded') throw error;
    throw new RepriseError('operation_failed', what, { expected: 'a value', cause: error });
  }
}

/** The output as the caller gets it: read from its bytes also where the world is in the caller's own process. */
export function readOutput(bytes: Uint8Array): Value {
  return decode(bytes);
}

interface Refusal {
  readonly code: 'invalid_argument' | 'operation_failed';
  readonly what: string;
}

function parsed<T>(schema: OperationSchema<T>, value: unknown, refusal: () => Refusal): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data as T;
  const { code, what } = refusal();
  throw new RepriseError(code, what, { ...firstProblem(result.error) });
}

/** Where the first problem is, and what it is, in the words of the schema. */
function firstProblem(error: unknown): { readonly where?: string; readonly expected?: string } {
  const [issue] = (error as { readonly issues?: readonly { path?: PropertyKey[]; message?: string }[] })?.issues ?? [];
  if (issue === undefined) return {};
  const where = ['$', ...(issue.path ?? []).map(String)].join('.');
  return { where, ...(issue.message === undefined ? {} : { expected: issue.message }) };
}

function bounded(bytes: Uint8Array, what: string): Uint8Array {
  if (bytes.length <= CALL_BYTES_MAX) return bytes;
  throw new RepriseError('bound_exceeded', `${what} is too large`, {
    expected: `at most ${CALL_BYTES_MAX} bytes`,
    actual: `${bytes.length} bytes`,
    hint: 'Put large content into the world, and pass a link to it.',
  });
}
