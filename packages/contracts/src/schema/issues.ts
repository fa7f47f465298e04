/** What is wrong with a value: found as raw issues, and told in the words of zod. */

/** A problem with a value: its kind, its path in the value, and a sentence. Further fields depend on the kind. */
export interface FoundIssue {
  readonly code: string;
  readonly path: PropertyKey[];
  readonly message: string;
}

/** The schema or the check that found an issue. */
export interface Finder {
  readonly _zod: { readonly def: { readonly type?: string; readonly error?: (() => string) | undefined } };
}

/** An issue before its sentence is written. zod finishes the same form when one of its schemas holds one of ours. */
export interface RawIssue {
  readonly code: string;
  readonly input: unknown;
  readonly inst?: Finder;
  /** The schema whose check found it: its sentence replaces ours where the check has none. */
  schema?: Finder;
  path?: PropertyKey[];
  readonly message?: string;
  /** Further checks of the same value still make sense. */
  continue?: boolean;
  readonly [field: string]: unknown;
}

/** A value on its way through a schema, and what was found on the way. */
export interface Payload {
  value: unknown;
  issues: RawIssue[];
}

/** What zod hands down through nested schemas. */
export interface ParseContext {
  readonly async?: boolean;
}

/** Whether an issue makes further checks of the value pointless. */
export function isAborted(issues: readonly RawIssue[], from = 0): boolean {
  return issues.some((issue, i) => i >= from && issue.continue !== true);
}

/** Adds the issues of a part to those of the whole. */
export function addIssues(to: Payload, step: PropertyKey, issues: readonly RawIssue[]): void {
  for (const issue of issues) {
    issue.path ??= [];
    issue.path.unshift(step);
    to.issues.push(issue);
  }
}

/** The error of {@link BuiltSchema.parse}: its message lists the issues as JSON. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';

  constructor(readonly issues: readonly FoundIssue[]) {
    super(JSON.stringify(issues, null, 2));
  }
}

const INTERNAL: readonly string[] = ['inst', 'schema', 'continue', 'input', '__proto__'];

/** Writes an issue's sentence and leaves out what only the search needed. */
export function finished(raw: RawIssue): FoundIssue {
  const message = raw.message ?? raw.inst?._zod.def.error?.() ?? ownerSentence(raw) ?? sentence(raw);
  const fields = Object.fromEntries(Object.entries(raw).filter(([name]) => !INTERNAL.includes(name)));
  return { ...fields, code: raw.code, path: raw.path ?? [], message };
}

/** A schema that found an issue itself speaks for itself. */
function ownerSentence({ inst, schema }: RawIssue): string | undefined {
  return inst?._zod.def.type === undefined ? schema?._zod.def.error?.() : undefined;
}

const UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'items' };

/** Says an issue as zod says it in English: callers see these sentences in errors. */
function sentence(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `Invalid input: expected ${String(issue.expected)}, received ${typeName(issue.input)}`;
    case 'invalid_value': {
      const values = issue.values as readonly unknown[];
      if (values.length === 1) return `Invalid input: expected ${shown(values[0])}`;
      return `Invalid option: expected one of ${values.map(shown).join('|')}`;
    }
    case 'too_big':
      return `Too big: expected ${bound(issue, issue.inclusive ? '<=' : '<', issue.maximum)}`;
    case 'too_small':
      return `Too small: expected ${bound(issue, issue.inclusive ? '>=' : '>', issue.minimum)}`;
    case 'invalid_format':
      return formatSentence(issue);
    case 'unrecognized_keys': {
      const keys = issue.keys as readonly string[];
      return `Unrecognized key${keys.length > 1 ? 's' : ''}: ${keys.map(shown).join(', ')}`;
    }
    case 'invalid_key':
      return `Invalid key in ${String(issue.origin)}`;
    case 'invalid_union':
      if (!Array.isArray(issue.options) || issue.options.length === 0) return 'Invalid input';
      return `Invalid discriminator value. Expected ${issue.options.map((option) => `'${option}'`).join(' | ')}`;
    default:
      return 'Invalid input';
  }
}

function bound(issue: RawIssue, relation: string, limit: unknown): string {
  const unit = UNITS[String(issue.origin)];
  if (unit === undefined) return `${String(issue.origin)} to be ${relation}${String(limit)}`;
  return `${String(issue.origin)} to have ${relation}${String(limit)} ${unit}`;
}

function formatSentence({ format, prefix, includes, pattern, bytesMax }: RawIssue): string {
  if (format === 'key') return `Invalid string: must be well-formed text of 1 to ${String(bytesMax)} bytes`;
  if (format === 'starts_with') return `Invalid string: must start with "${String(prefix)}"`;
  if (format === 'includes') return `Invalid string: must include "${String(includes)}"`;
  return `Invalid string: must match pattern ${String(pattern)}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}

function typeName(input: unknown): string {
  if (typeof input === 'number') {
    if (Number.isNaN(input)) return 'NaN';
    return Number.isFinite(input) ? 'number' : String(input);
  }
  if (typeof input !== 'object') return typeof input;
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'array';
  const foreign = Object.getPrototypeOf(input) !== Object.prototype && 'constructor' in input && input.constructor;
  return typeof foreign === 'function' ? foreign.name : 'object';
}
