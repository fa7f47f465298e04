/** Stated tools as models are offered them. What an owner receives of a call is made here: see `pure/kit/owner-tool.ts`. */
import { defineOwnerTool, type KeepContext, putText, type Tool } from '@reprise/agent';
import { isFilled, requireArgument, requireFields, type Value, type ValueMap, wellFormed } from '@reprise/contracts';
import * as schema from '@reprise/contracts/schema';
import { type ContentStore, putErasable, putValue } from '@reprise/kernel';
import * as z from 'zod';
import { keepText } from '../handle/texts.js';
import {
  type CallTo,
  inMillionths,
  type KeptFields,
  keepingOf,
  type OwnerTool,
  oneLine,
  unwrapped,
} from '../pure/kit/index.js';

/** What code adds to a kept call: the fields that do not follow from the statement, and those that it keeps otherwise. */
type Added<F extends schema.Shape, C> = C extends unknown ? Omit<C, keyof Stated<F>> & Partial<C> : never;

/** The fields of a call that follow from the statement. */
type Stated<F extends schema.Shape> = schema.infer<schema.Obj<KeptFields<F>>>;

/** Makes the fields that code adds. It is needed where the owner receives fields that do not follow from the statement. */
type Adds<F extends schema.Shape, C> = (
  asked: schema.infer<schema.Obj<F>>,
  context: KeepContext,
) => Added<F, C> | Promise<Added<F, C>>;

/**
 * Makes the tool of a statement (`ownerTool`): models are shown its fields and write them; its texts and values are stored
 * when a call is judged, and the owner receives their links.
 *
 * @param adds makes the fields that do not follow from the statement
 * @throws RepriseError `invalid_definition` when no provider accepts the tool
 * @example
 * const report = offerTool('report', reportCall)
 * const note = offerTool('note', noteCall, async ({ text }, { content }) => keepText(content, text))
 */
export function offerTool<F extends schema.Shape, C>(
  name: string,
  tool: OwnerTool<F, C>,
  ...[adds]: Record<never, never> extends Added<F, C> ? [adds?: Adds<F, C>] : [adds: Adds<F, C>]
): Tool {
  return offered(name, tool, adds);
}

/** Code that adds fields, of whatever tool. */
type AnyAdds = (asked: never, context: KeepContext) => object | Promise<object>;

function offered(name: string, tool: OwnerTool, added: AnyAdds = () => ({})): Tool {
  requireArgument(isFilled(name), 'offerTool(name)', 'the name of the tool', name);
  requireFields(tool, 'offerTool(tool)', 'a tool that ownerTool has stated');
  const { description } = tool;
  const args = tool.args as schema.Obj<schema.Shape>; // an object of zod gives the same values of the same fields
  return defineOwnerTool({
    name,
    description,
    args,
    jsonSchema: jsonSchemaOf(args),
    keep: async (asked, context) => ({
      ...(await keptCall(args.shape, asked, context.content)),
      ...(plain(await added(asked as never, context)) as ValueMap),
    }),
  }) as Tool;
}

/** The code of tools: of each whose owner receives fields that do not follow from its statement, and of others. */
type AddsTo<T extends Readonly<Record<string, OwnerTool>>> = {
  readonly [N in keyof T as NeedsCode<T[N]> extends true ? N : never]: AddsOf<T[N]>;
} & { readonly [N in keyof T]?: AddsOf<T[N]> };
type AddsOf<T extends OwnerTool> = Adds<FieldsOf<T>, CallTo<T>>;
type FieldsOf<T extends OwnerTool> = T['args']['shape'];
type NeedsCode<T extends OwnerTool> = Record<never, never> extends Added<FieldsOf<T>, CallTo<T>> ? false : true;

/**
 * Makes the tools of some statements, as {@link offerTool} does, by the names under which they stand.
 *
 * @param adds the code of those tools that need it
 * @example const { report, note } = offerTools(calls, { note: ({ text }, { content }) => keepText(content, text) })
 */
export function offerTools<const T extends Readonly<Record<string, OwnerTool>>>(
  tools: T,
  adds: AddsTo<T>,
): { readonly [N in keyof T]: Tool } {
  const by: Readonly<Record<string, AnyAdds | undefined>> = adds;
  const made = Object.entries(tools).map(([name, tool]) => [name, offered(name, tool, by[name])]);
  return Object.fromEntries(made);
}

/** The JSON Schema of what a model writes. Our schemas have the form of zod's inside, so zod writes it. */
function jsonSchemaOf(args: schema.AnySchema): object {
  return z.toJSONSchema(args as z.ZodType, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const { description } = schema.defOf(zodSchema).meta ?? {};
      if (description !== undefined) jsonSchema.description = description;
    },
  });
}

/** What an owner receives of some fields. */
export async function keptCall(fields: schema.Shape, given: object, content: ContentStore): Promise<ValueMap> {
  const kept = Object.entries(given).map(async ([name, value]): Promise<[string, Value][]> => {
    const field = (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? ANY;
    const keeping = keepingOf(field);
    if (value === undefined || keeping === 'apart') return [];
    if (keeping === 'text') return [[`${name}_ref`, await putText(content, value)]];
    if (keeping === 'erasable') return [[`${name}_ref`, await putErasable(content, encoder.encode(value))]];
    if (keeping === 'value') return [[`${name}_ref`, await putValue(content, plain(value))]];
    if (keeping === 'words') return Object.entries(await keepText(content, wellFormed(value)));
    if (keeping === 'millionths') return [[`${name}_ppm`, inMillionths(value)]];
    return [[name, keeping === 'line' ? oneLine(wellFormed(value)) : await keptPart(unwrapped(field), value, content)]];
  });
  return Object.fromEntries((await Promise.all(kept)).flat());
}

const encoder = new TextEncoder();

/** The field of an object that takes any. */
const ANY = schema.unknown();

async function keptPart(part: schema.AnySchema, given: unknown, content: ContentStore): Promise<Value> {
  const { type, shape, element } = schema.defOf(part);
  if (type === 'object') return keptCall(shape, given as object, content);
  if (type !== 'array') return plain(given);
  return Promise.all((given as unknown[]).map((item) => keptPart(element, item, content)));
}

/** A value whose texts are well-formed, without the fields that no canonical value has: undefined ones, and `__proto__`. */
function plain(given: unknown): Value {
  if (typeof given === 'string') return wellFormed(given);
  if (Array.isArray(given)) return given.map(plain);
  if (typeof given !== 'object' || given === null || Object.getPrototypeOf(given) !== Object.prototype)
    return given as Value; // a link, among others
  const fields = Object.entries(given).filter(([name, part]) => part !== undefined && name !== '__proto__');
  return Object.fromEntries(fields.map(([name, part]) => [wellFormed(name), plain(part)]));
}
