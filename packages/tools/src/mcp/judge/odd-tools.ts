/**
 * A page of a server's list of tools, tool by tool: an odd hint or text of a tool is ignored, an odd tool is left out,
 * and the others stay.
 */
import { specTypeSchemas } from '@modelcontextprotocol/client';
import { isObject, kindOf } from './read-json.js';

type Json = Readonly<Record<string, unknown>>;
type Odd = (what: string) => void;

/** A page of a list of tools, beside what the MCP package reads of it. */
export interface Page {
  readonly names: readonly string[];
  /** The tools of the page that cannot be offered. */
  readonly leftOut: readonly { readonly tool: string; readonly why: string }[];
  /** The cursor of the next page; undefined after the last one. */
  readonly next: unknown;
}

/** A page, and the result that the MCP package accepts: without a cursor, since pages are requested one by one. */
interface UsablePage extends Page {
  readonly result: Json;
}

/** The hints of a tool. */
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

/** The members of a tool that the MCP package reads besides its name and schemas, with a check of each. */
const MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  title: (value) => typeof value === 'string',
  description: (value) => typeof value === 'string',
  icons: () => false, // shown nowhere
  execution: (value) =>
    isObject(value) && ['required', 'optional', 'forbidden', undefined].includes(value.taskSupport as string),
  _meta: isObject,
};

/** Reads a page, or says why it cannot be read. */
export function usablePage(result: unknown, isModern: boolean, odd: Odd): UsablePage | string {
  if (!isObject(result)) return `its result is ${kindOf(result)}`;
  if (!Array.isArray(result.tools)) return `its list of tools is ${kindOf(result.tools)}`;
  const leftOut: { tool: string; why: string }[] = [];
  const tools: Json[] = [];
  for (const [index, one] of (result.tools as readonly unknown[]).entries()) {
    const tool = usableTool(one, isModern, odd);
    if (typeof tool !== 'string') tools.push(tool);
    else
      leftOut.push({
        tool: isObject(one) && typeof one.name === 'string' ? one.name : `tool ${index + 1} of its page`,
        why: tool,
      });
  }
  return {
    result: { tools, ...(isModern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {}) },
    names: tools.map(({ name }) => String(name)),
    leftOut,
    next: cursorOf(result.nextCursor, odd),
  };
}

/** No cursor, null and an empty text all end a list. */
function cursorOf(cursor: unknown, odd: Odd): unknown {
  if (cursor === undefined || cursor === null || cursor === '') return undefined;
  if (typeof cursor === 'string' || typeof cursor === 'number') return cursor;
  odd(`the cursor of a list is ${kindOf(cursor)}: the list ends there`);
  return undefined;
}

/** A tool as the MCP package accepts it, or the reason why it cannot be offered. */
function usableTool(given: unknown, isModern: boolean, odd: Odd): Json | string {
  if (!isObject(given)) return `it is ${kindOf(given)}, not an object`;
  const { name, inputSchema, outputSchema, annotations } = given;
  if (typeof name !== 'string') return `its name is ${kindOf(name)}, not a text`;
  const note = (what: string): void => odd(`the tool ${JSON.stringify(name)}: ${what}`);
  const input = usableInput(inputSchema);
  if (typeof input === 'string') return input;
  const tool: Record<string, unknown> = { name };
  for (const [member, isUsable] of Object.entries(MEMBERS)) {
    const value = given[member];
    if (isUsable(value)) tool[member] = value;
    else if (value !== undefined && value !== null && member !== 'icons')
      note(`${member} is ${kindOf(value)} and is ignored`);
  }
  tool.inputSchema = input;
  if (isSchema(outputSchema) && (isModern || isObjectSchema(outputSchema))) tool.outputSchema = outputSchema;
  else if (outputSchema !== undefined && outputSchema !== null)
    note('its outputSchema is not one of an object and is ignored');
  const hints = usableHints(annotations, note);
  if (hints !== undefined) tool.annotations = hints;
  return accepted(tool);
}

/**
 * The schema of the arguments. Arguments are always an object, so a schema that says nothing of their type means one.
 *
 * @returns the reason when it cannot be read
 */
function usableInput(given: unknown): Json | string {
  if (given === undefined || given === null || given === true || isEmptyList(given)) return { type: 'object' };
  if (!isObject(given))
    return `its inputSchema is ${given === false ? 'false' : kindOf(given)}, not a schema of an object`;
  const { type } = given;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type ?? 'object'];
  if (!types.includes('object'))
    return `its inputSchema is of type ${JSON.stringify(type)}, but arguments are an object`;
  // Languages with one kind of array write an empty map as an empty list.
  const properties = isEmptyList(given.properties) ? { properties: {} } : {};
  const schema: Record<string, unknown> = { ...given, ...properties, type: 'object' };
  for (const member of ['properties', 'required']) if (schema[member] === null) delete schema[member];
  if (schema.properties !== undefined && !isObject(schema.properties))
    return `the properties of its inputSchema are ${kindOf(schema.properties)}`;
  if (schema.required !== undefined && !isTexts(schema.required))
    return 'the required properties of its inputSchema are not a list of names';
  if (schema.$schema !== undefined && typeof schema.$schema !== 'string') delete schema.$schema;
  return schema;
}

/**
 * The hints of a tool. An odd hint says nothing; but one that may say that the tool destroys something is believed,
 * since it makes calls more careful.
 */
function usableHints(given: unknown, note: Odd): Json | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isObject(given)) {
    note(`its annotations are ${kindOf(given)} and are ignored`);
    return undefined;
  }
  const kept = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    const isHint = HINTS.includes(name);
    if (isHint ? typeof value === 'boolean' : name !== 'title' || typeof value === 'string') return [[name, value]];
    if (value === null) return [];
    const isBelieved = name === 'destructiveHint' && value !== 'false' && value !== 0 && value !== '';
    note(`${name} is ${kindOf(value)} and is ${isBelieved ? 'read as true' : 'ignored'}`);
    return isBelieved ? [[name, true]] : [];
  });
  return Object.fromEntries(kept);
}

/** The tool, unless the MCP package refuses it all the same. */
function accepted(tool: Json): Json | string {
  const checked = specTypeSchemas.Tool['~standard'].validate(tool);
  if (checked instanceof Promise || checked.issues === undefined) return tool;
  return `it is not a tool of the protocol: ${checked.issues.map(({ message, path = [] }) => `${path.join('.')} ${message}`).join('; ')}`;
}

function isSchema(given: unknown): given is Json {
  return isObject(given) && (given.$schema === undefined || typeof given.$schema === 'string');
}

function isObjectSchema({ type, properties, required }: Json): boolean {
  return (
    type === 'object' &&
    (properties === undefined || isObject(properties)) &&
    (required === undefined || isTexts(required))
  );
}

function isTexts(given: unknown): boolean {
  return Array.isArray(given) && given.every((one) => typeof one === 'string');
}

function isEmptyList(given: unknown): boolean {
  return Array.isArray(given) && given.length === 0;
}
