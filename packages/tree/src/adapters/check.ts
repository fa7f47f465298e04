/**
 * Executes `tree.check@1`: whether what a node gave is of its type, and if so, the content that counts as its result.
 *
 * Invariants
 * K1  Content only: what a check gives follows from its parameters and the content that they link. A file is the one
 *     exception, so its content becomes content of the world here, once.
 * K2  A wrong result is an outcome, never an error: the node reads what is wrong, with the place.
 */
import { checkRead, type JsonAnswer, jsonIn, jsonSchema, putText, readLlmOutput, readText } from '@reprise/agent';
import { isRef, present, type Ref, RepriseError, shortText, type Value, wellFormed } from '@reprise/contracts';
import { type LargeNumbers, NO_LARGE_NUMBERS } from '@reprise/contracts/json';
import {
  type AnyAdapter,
  adapterOf,
  type ContentReader,
  type ContentStore,
  encode,
  getValue,
  putValue,
} from '@reprise/kernel';
import { type Given, type ResultType, type TreeChecked, type TreeCheckParams, treeCheck } from '../pure/index.js';

/** Reads files that are results, from inside one folder. */
export interface FileCapture {
  /**
   * Reads a file.
   *
   * @param path as the node gave it: relative, to stay inside the folder
   * @param tree the name of the tree
   * @returns its bytes, or why they are not given, in words for the node
   */
  capture(path: string, tree: string): Promise<{ readonly bytes: Uint8Array } | { readonly refused: string }>;
}

type Read =
  | { readonly from: 'call'; readonly value: Value; readonly ref: Ref }
  | { readonly from: 'answer'; readonly text: string };

/** A result of the right type, as it is stored; or what is wrong with it, as lines that begin with `- `. */
type Verdict = Fit | { readonly problems: string };

/** A result of the right type; `about` is its summary where the node gave none. */
type Fit = Omit<Given, 'summary_ref'> & { readonly about?: string };

interface Terms {
  readonly content: ContentStore;
  readonly schema: Value | undefined;
  readonly capture: (path: string) => ReturnType<FileCapture['capture']>;
}

const PROBLEMS_LENGTH_MAX = 2_000;

/**
 * The adapter of `tree.check@1`.
 *
 * @param files what reads files; without it no result is a file
 */
export function checkAdapter(files?: FileCapture): AnyAdapter {
  return adapterOf(treeCheck, {
    name: 'tree.check',
    async doExecute(params, { content }) {
      try {
        return { status: 'ok', payload: await checked(params, content, files) };
      } catch (error) {
        if (!(error instanceof RepriseError)) throw error;
        return { status: 'error', code: `validation_error/${CODES[error.code] ?? 'not_a_value'}`, retryable: false };
      }
    },
  });
}

const CODES: Readonly<Record<string, string>> = { blob_missing: 'blob_missing', blob_erased: 'blob_erased' };

async function checked(
  { returns, schema_ref, from, summary_ref, tree }: TreeCheckParams,
  content: ContentStore,
  files: FileCapture | undefined,
): Promise<TreeChecked> {
  const terms: Terms = {
    content,
    schema: schema_ref === null ? undefined : await getValue(content, schema_ref),
    capture: async (path) =>
      files === undefined ? { refused: 'this tree takes no files' } : files.capture(path, tree),
  };
  const verdict = await verdictOn(returns, from, terms);
  if ('problems' in verdict)
    return { problems_ref: await putText(content, shortText(wellFormed(verdict.problems), PROBLEMS_LENGTH_MAX)) };
  const { about, ...fit } = verdict;
  const summary = summary_ref ?? (about === undefined ? undefined : await putText(content, about));
  return { given: present({ ...fit, summary_ref: summary }) };
}

async function verdictOn(returns: ResultType, from: TreeCheckParams['from'], terms: Terms): Promise<Verdict> {
  const { content } = terms;
  if ('list' in from) {
    const parts = await Promise.all(from.list.map((part) => valueGiven(part, content)));
    return CHECKS[returns]({ from: 'call', value: parts, ref: await putValue(content, parts) }, terms);
  }
  if ('value_ref' in from) {
    const ref = from.value_ref;
    return CHECKS[returns]({ from: 'call', value: await getValue(content, ref), ref }, terms);
  }
  if ('text_ref' in from) {
    const ref = from.text_ref;
    return CHECKS[returns]({ from: 'call', value: await readText(content, ref), ref }, terms);
  }
  return CHECKS[returns]({ from: 'answer', text: (await readLlmOutput(content, from.output_ref)).text ?? '' }, terms);
}

/** What a node gave, as a value. @throws RepriseError `blob_missing`, `blob_erased` */
export async function valueGiven({ ref, kind }: Given, content: ContentReader): Promise<Value> {
  if (kind === 'value') return getValue(content, ref);
  return kind === 'text' ? readText(content, ref) : ((await readLlmOutput(content, ref)).text ?? '');
}

const CHECKS: Readonly<Record<ResultType, (read: Read, terms: Terms) => Promise<Verdict>>> = {
  async text(read, terms) {
    // What a program prints ends with a line break that is no part of what it says.
    const text = read.from === 'answer' ? read.text.replace(/(?:\r?\n)+$/, '') : read.value;
    if (typeof text !== 'string') return wrong(`is ${kindOf(text)}; a text is needed`);
    if (text.trim() === '') return wrong('is empty; a text is needed');
    return (await unfit(text, terms.schema)) ?? stored(text, terms.content);
  },
  async boolean(read, terms) {
    const value = read.from === 'answer' ? booleanIn(read.text) : read.value;
    if (typeof value !== 'boolean') return wrong(`is ${said(value)}; true or false is needed`);
    return (await unfit(value, terms.schema)) ?? asValue(read, value, terms.content);
  },
  async list(read, terms) {
    const json = jsonOf(read);
    const value = json?.value;
    if (!Array.isArray(value)) return wrong(`is ${said(value)}; a list is needed, as JSON`);
    const schema = terms.schema === undefined ? undefined : schemaOfList(terms.schema);
    return (await unfit(value, schema, json)) ?? asValue(read, value, terms.content);
  },
  async structured(read, terms) {
    const json = jsonOf(read);
    const value = json?.value;
    if (!isMap(value)) return wrong(`is ${said(value)}; an object is needed, as JSON`);
    return (await unfit(value, terms.schema, json)) ?? asValue(read, value, terms.content);
  },
  async file(read, terms) {
    const path = read.from === 'answer' ? pathIn(read.text) : read.value;
    if (typeof path !== 'string' || path === '') return wrong(`is ${said(path)}; the path of a file is needed`);
    const found = await terms.capture(path);
    if ('refused' in found) return wrong(`${JSON.stringify(shortText(path, 200))} is refused: ${found.refused}`);
    const bytes = found.bytes.length;
    const about = wellFormed(`The file ${shortText(path, 400)}, ${bytes} bytes.`);
    return { ref: await terms.content.put(found.bytes), kind: 'text', bytes, about };
  },
};

/** What a node gave as JSON; a call's value was read before. */
function jsonOf(read: Read): JsonAnswer | undefined {
  return read.from === 'answer' ? jsonIn(read.text) : { value: read.value, ...NO_LARGE_NUMBERS };
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false };

function booleanIn(text: string): Value | undefined {
  const json = jsonIn(text)?.value;
  if (typeof json === 'boolean') return json;
  const word = text.trim().toLowerCase();
  return Object.hasOwn(BOOLEANS, word) ? BOOLEANS[word] : undefined;
}

/** The path in a last answer: its only line, which may be marked as code. */
function pathIn(text: string): string {
  const line = text.trim();
  return /^`[^`]+`$/.test(line) ? line.slice(1, -1) : line;
}

/** The schema of a whole list: as given when it is one of a list, else the given one for each item. */
function schemaOfList(schema: Value): Value {
  if (!isMap(schema)) return { type: 'array', items: schema };
  if (schema.type === 'array') return schema;
  // An embedded schema is a resource of its own, so that its references to itself still hold.
  return { type: 'array', items: { $id: 'urn:reprise:item', ...schema } };
}

async function unfit(
  data: Value,
  schema: Value | undefined,
  { count, large }: LargeNumbers = NO_LARGE_NUMBERS,
): Promise<Verdict | undefined> {
  if (schema === undefined) return undefined;
  const fits = await checkRead(jsonSchema(schema), { data, count, large });
  return fits.ok ? undefined : { problems: fits.problems };
}

async function stored(text: string, content: ContentStore): Promise<Verdict> {
  const bytes = new TextEncoder().encode(text);
  return { ref: await content.put(bytes), kind: 'text', bytes: bytes.length };
}

/** A value as a result: the content that the call brought, or that of an answer. */
async function asValue(read: Read, value: Value, content: ContentStore): Promise<Verdict> {
  try {
    const bytes = encode(value);
    return { ref: read.from === 'call' ? read.ref : await content.put(bytes), kind: 'value', bytes: bytes.length };
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    return wrong(`cannot be stored: ${error.message}`);
  }
}

function wrong(what: string): Verdict {
  return { problems: `- the result ${what}` };
}

function isMap(value: unknown): value is Readonly<Record<string, Value>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRef(value) && !isBytes(value);
}

function isBytes(value: unknown): boolean {
  return value instanceof Uint8Array;
}

/** What a value is, for a node that gave another type. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isBytes(value)) return 'bytes';
  return KINDS[typeof value] ?? 'something else';
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
};

function said(value: unknown): string {
  return value === undefined ? 'not JSON' : kindOf(value);
}
