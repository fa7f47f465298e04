/**
 * Tools for validators of requests that were written from the providers' own documents, and share no code with
 * `packages/providers`: a strict server, as its documents describe it.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Something within a request. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: Json };

/** Collects what a strict server refuses: the name of the rule, and the place. */
export class Refusals {
  readonly all: string[] = [];

  /** Notes a broken rule unless it holds. Returns whether it holds. */
  need(holds: boolean, rule: string, at: string): boolean {
    if (!holds) this.all.push(`${rule} at ${at}`);
    return holds;
  }
}

export function fieldsOf(given: unknown): Fields {
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? (given as Fields) : {};
}

export function listOf(given: unknown): Json[] {
  return Array.isArray(given) ? (given as Json[]) : [];
}

export function isText(given: unknown): given is string {
  return typeof given === 'string';
}

export function isSpoken(given: unknown): boolean {
  return isText(given) && given.trim() !== '';
}

export function isNumberIn(given: unknown, min: number, max: number): boolean {
  return given === undefined || (typeof given === 'number' && given >= min && given <= max);
}

/** Whether a text is JSON of an object: the form of arguments. */
export function isObjectText(given: unknown): boolean {
  try {
    const data: unknown = JSON.parse(String(given));
    return typeof data === 'object' && data !== null && !Array.isArray(data);
  } catch {
    return false;
  }
}

/** The first bytes of the files that providers read. */
const SIGNATURES: readonly (readonly [type: string, signature: RegExp])[] = [
  ['image/png', /^\u0089PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
];

/** Whether base64 holds a file of the type that is declared for it. */
export function isFile(mediaType: unknown, base64: unknown): boolean {
  const signature = SIGNATURES.find(([type]) => type === mediaType)?.[1];
  if (signature === undefined || !isText(base64) || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return false;
  return base64.length % 4 === 0 && signature.test(Buffer.from(base64, 'base64').toString('latin1'));
}

/** Whether a data URL holds a file of the type that it declares. */
export function isFileUrl(url: unknown): boolean {
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(String(url)) ?? [];
  return isFile(type, data);
}

/** What a provider says of the schemas of tools. */
export interface SchemaLimits {
  readonly names?: RegExp;
  readonly formats: readonly string[];
  readonly levels: number;
}

const isSchema = new Ajv2020({ strict: false, logger: false }).getSchema(
  'https://json-schema.org/draft/2020-12/schema',
);

/** The keywords that hold schemas: one, a list, a map. */
const PARTS: Readonly<Record<string, 'one' | 'list' | 'map'>> = {
  items: 'one',
  additionalProperties: 'one',
  anyOf: 'list',
  oneOf: 'list',
  allOf: 'list',
  properties: 'map',
  $defs: 'map',
  definitions: 'map',
};

/** Keywords that OpenAI and Anthropic list as unsupported, or that other servers of their formats refuse. */
const REFUSED = [
  ...['not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'dependencies', 'patternProperties'],
  ...['propertyNames', 'unevaluatedProperties', 'unevaluatedItems', 'contains', 'minContains', 'maxContains'],
  ...['prefixItems', 'additionalItems', '$dynamicRef', '$recursiveRef', '$id', 'id', '$schema', 'nullable'],
];

/** Checks the schema of a tool. */
export function checkSchema(schema: unknown, limits: SchemaLimits, at: string, found: Refusals): void {
  const root = fieldsOf(schema);
  if (!found.need(isSchema?.(root) === true, 'schema_2020_12', at)) return;
  found.need(root.type === 'object', 'schema_root_object', at);
  found.need(typeof root.properties === 'object', 'schema_root_properties', at);
  const unions = ['anyOf', 'oneOf', 'allOf', 'enum', 'not', 'const', '$ref'].filter((one) => one in root);
  found.need(unions.length === 0, 'schema_root_union', at);
  const walk = (part: Json, place: string, level: number): void => {
    if (typeof part === 'boolean') return;
    const fields = fieldsOf(part);
    const deep = 'properties' in fields ? level + 1 : level;
    found.need(deep <= limits.levels, 'schema_levels', place);
    checkPart(fields, place, limits, root, found);
    for (const [keyword, kind] of Object.entries(PARTS)) {
      const value = fields[keyword];
      if (value === undefined) continue;
      if (kind === 'one') walk(value, `${place}.${keyword}`, deep);
      if (kind === 'list') for (const [i, one] of listOf(value).entries()) walk(one, `${place}.${keyword}.${i}`, deep);
      const isDefinitions = keyword === '$defs' || keyword === 'definitions';
      if (kind === 'map')
        for (const [name, one] of Object.entries(fieldsOf(value)))
          walk(one, `${place}.${keyword}.${name}`, isDefinitions ? 0 : deep);
    }
  };
  walk(root, at, 0);
}

function checkPart(fields: Fields, at: string, limits: SchemaLimits, root: Fields, found: Refusals): void {
  for (const keyword of REFUSED) found.need(!(keyword in fields), 'schema_keyword', `${at}.${keyword}`);
  const isList = [fields.type].flat().includes('array');
  found.need(!isList || typeof fields.items === 'object', 'schema_items', at);
  if (fields.pattern !== undefined) found.need(isPlainPattern(fields.pattern), 'schema_pattern', at);
  if (fields.format !== undefined) found.need(limits.formats.includes(String(fields.format)), 'schema_format', at);
  if (fields.$ref !== undefined) found.need(leads(fields.$ref, root), 'schema_ref', at);
  const { names } = limits;
  if (names === undefined) return;
  for (const name of Object.keys(fieldsOf(fields.properties)))
    found.need(names.test(name), 'schema_property_name', `${at}.${name}`);
}

/** Whether Rust's engine, which has no look-around and no back references, reads a pattern. */
function isPlainPattern(pattern: unknown): boolean {
  if (!isText(pattern)) return false;
  if (/\(\?(?!:)|\\[pPkucAzZG1-9]|[*+?}]\+/.test(pattern.replaceAll('\\\\', '').replace(/\\u[0-9a-fA-F]{4}/g, '')))
    return false;
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

function leads(ref: unknown, root: Fields): boolean {
  if (ref === '#') return true;
  const [, where = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(ref)) ?? [];
  return name in fieldsOf(root[where]);
}
