/**
 * Makes a receipt's payload from a handler's answer: the whole output for people, the bounded one for the model.
 */
import { RepriseError, type Usage, usage, wellFormed } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { decode, encode } from '@reprise/kernel/codec';
import { putValue } from '@reprise/kernel/store';
import type { Artifact, ToolCallReceipt } from '../../contracts/tool-call.js';
import { check, messageOf, type Schema, shortened } from '../schema/schema.js';
import { failedText, lostText, misfitText } from '../schema/texts.js';
import type { Made } from '../tool/handler-context.js';
import type { Tool } from '../tool/tool.js';
import { OutputBounder, type OutputPolicy } from './bound-output.js';
import { DEFAULT_FAMILY, type OutputPolicies, policiesOf } from './families.js';
import { jsonValue } from './json-value.js';
import {
  isToolError,
  isToolParts,
  isToolStream,
  type ReaderSource,
  ResultLost,
  type ToolPart,
  type ToolStream,
} from './result.js';

/** The most bytes of one output that are stored: as much as one read of a file returns. */
export const OUTPUT_BYTES_MAX = 2_147_483_647;

/** How many files of one answer a model is shown. */
const FILES_MAX = 16;

const NEWLINE = 10;

type Failure = NonNullable<ToolCallReceipt['error_code']>;

/** An answer before it is stored. */
export interface Kept {
  readonly output: string | AsyncIterable<Uint8Array>;
  readonly error?: Failure;
  readonly files?: readonly Artifact[];
  /** Set when a stream fails while it is read. */
  readonly failed?: () => boolean;
  /** Whether the call was done but a part of its result is missing. */
  readonly lost?: () => boolean;
  /** What the call used, as its receipt records it. */
  readonly usage?: Usage;
}

/** A failure as the model reads it. */
export function failure(text: string, error: Failure): Kept {
  return { output: shortened(text), error };
}

/** A call that was done, but whose result could not be stored. */
export function lost(tool: string, why: string): Kept {
  return { output: shortened(lostText(tool, why)), lost: () => true };
}

/** Converts a handler's answer. Never throws: a call whose answer cannot be stored was done all the same. */
export async function keptAnswer(answer: unknown, output: Schema | undefined, tool: string): Promise<Kept> {
  if (isToolError(answer)) return { ...failure(String(answer.message), 'adapter_error'), ...usedIn(answer) };
  if (answer instanceof ResultLost) return lost(tool, answer.message);
  try {
    if (isToolStream(answer)) return keptStream(answer, tool);
    if (isToolParts(answer)) return { ...keptParts(answer.parts), ...usedIn(answer) };
    if (output !== undefined) {
      const fits = await check(output, answer);
      if (!fits.ok) return lost(tool, misfitText(fits.problems));
    }
    return {
      output: answer === undefined ? '' : typeof answer === 'string' ? wellFormed(answer) : jsonText(answer),
    };
  } catch (error) {
    return lost(tool, messageOf(error));
  }
}

/** Stores an answer. @returns the receipt's payload */
export async function storeAnswer(
  kept: Kept,
  policy: OutputPolicy,
  content: ContentStore,
  made: Made,
): Promise<ToolCallReceipt> {
  const bounder = new OutputBounder(policy);
  const whole = await store(kept.output, bounder, content);
  const bounded = bounder.end(whole.hex);
  const error = kept.error ?? (kept.failed?.() === true ? 'adapter_error' : undefined);
  return {
    operator_output_ref: whole,
    model_output_ref: await content.put(bounded.bytes),
    truncation_meta: bounded.meta,
    is_error: error !== undefined,
    ...(error === undefined ? {} : { error_code: error }),
    ...(error === undefined && kept.lost?.() === true ? { result_lost: true } : {}),
    ...(kept.files === undefined || kept.files.length === 0 ? {} : { files: [...kept.files] }),
    ...(made.artifacts.length === 0 ? {} : { artifacts: made.artifacts }),
    ...(made.changes.length === 0 ? {} : { changes: made.changes }),
    ...(made.warnings.size === 0 ? {} : { warnings_ref: await putValue(content, [...made.warnings]) }),
  };
}

/**
 * Makes the receipt's payload of a call that an outside party finished, from the answer that a handler would have
 * given.
 *
 * @param tool the tool that was called; without it the default policy applies and no output is checked
 */
export async function settledAnswer(
  answer: unknown,
  content: ContentStore,
  options: { readonly tool?: Tool; readonly outputs?: OutputPolicies } = {},
): Promise<ToolCallReceipt> {
  const { tool } = options;
  const policy = policiesOf(options.outputs)(tool?.entry.family ?? DEFAULT_FAMILY);
  const kept = await keptAnswer(answer, tool?.output, tool?.name ?? 'that was called');
  return storeAnswer(kept, policy, content, { artifacts: [], changes: [], warnings: new Set() });
}

async function store(output: Kept['output'], bounder: OutputBounder, content: ContentStore) {
  if (typeof output !== 'string') return (await content.putStream(tapped(output, bounder))).ref;
  const bytes = new TextEncoder().encode(output);
  bounder.write(bytes);
  return content.put(bytes);
}

async function* tapped(source: AsyncIterable<Uint8Array>, bounder: OutputBounder): AsyncGenerator<Uint8Array> {
  for await (const bytes of source) {
    bounder.write(bytes);
    yield bytes;
  }
}

/** An answer that arrives as a stream. The part before a failure is stored, and the failure is appended to it. */
function keptStream(stream: ToolStream, tool: string): Kept {
  let failed = false;
  let isLost = false;
  async function* bytesOf(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    let total = 0;
    let atLineStart = true;
    try {
      for await (const piece of wholePairs(openedStream(stream))) {
        const bytes = typeof piece === 'string' ? encoder.encode(piece) : requireBytes(piece);
        if (total + bytes.length > OUTPUT_BYTES_MAX) throw tooMuch();
        total += bytes.length;
        atLineStart = (bytes.at(-1) ?? NEWLINE) === NEWLINE;
        yield bytes;
      }
    } catch (error) {
      if (error instanceof ResultLost) isLost = true;
      else failed = true;
      const said = error instanceof ResultLost ? lostText(tool, error.message) : failedText(tool, error);
      yield encoder.encode(shortened(`${atLineStart ? '' : '\n'}${said}`));
    }
  }
  return { output: bytesOf(), failed: () => failed, lost: () => isLost };
}

function tooMuch(): ResultLost {
  return new ResultLost(`the output has more than ${OUTPUT_BYTES_MAX} bytes; what came before is kept`);
}

function requireBytes(piece: unknown): Uint8Array {
  if (piece instanceof Uint8Array) return piece;
  throw new ResultLost(`a stream of a tool gave a ${typeof piece}; it may give text and bytes`);
}

/**
 * Begins to read a stream that a handler returned.
 *
 * @throws ResultLost when it cannot be read at all, for example because something else reads it: the handler returned,
 *   so the call was done
 */
export function openedStream(stream: ToolStream): AsyncIterable<string | Uint8Array> {
  try {
    if (!(Symbol.asyncIterator in stream)) return readAll(stream.getReader());
    const pieces = stream[Symbol.asyncIterator]();
    return { [Symbol.asyncIterator]: () => pieces };
  } catch (error) {
    throw new ResultLost(messageOf(error), { cause: error });
  }
}

/** Joins the halves of a character that a stream of text gives in two pieces. */
async function* wholePairs(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
  let half = '';
  for await (const piece of pieces) {
    const isText = typeof piece === 'string';
    if (!isText && half !== '') yield half;
    const text = isText ? half + piece : '';
    half = /[\ud800-\udbff]$/.test(text.slice(-1)) ? text.slice(-1) : '';
    yield isText ? text.slice(0, text.length - half.length) : piece;
  }
  if (half !== '') yield half;
}

async function* readAll(reader: ReturnType<ReaderSource['getReader']>): AsyncGenerator<string | Uint8Array> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (next.value !== undefined) yield next.value;
    }
  } finally {
    await reader.cancel();
  }
}

/** What a handler says that its call used; nothing when that is no usage: the call was done all the same. */
function usedIn(answer: { readonly usage?: unknown }): { readonly usage?: Usage } {
  const { data } = usage.safeParse(answer.usage);
  return data === undefined ? {} : { usage: data };
}

function keptParts(parts: readonly ToolPart[]): Kept {
  const files = parts.flatMap((part) => (typeof part === 'object' && 'file' in part ? [part.file] : []));
  if (files.length > FILES_MAX) {
    throw new RepriseError('bound_exceeded', 'the answer of a tool has too many files', {
      expected: `at most ${FILES_MAX}`,
    });
  }
  return { output: parts.map(partText).join('\n'), files };
}

function partText(part: ToolPart): string {
  if (typeof part === 'string') return wellFormed(part);
  if ('json' in part) return jsonText(part.json);
  const { path, media_type, declared_type, bytes, blob_ref } = part.file;
  const type = declared_type === undefined ? media_type : `${media_type} (declared as ${wellFormed(declared_type)})`;
  return `[file ${wellFormed(path)}: ${type}, ${bytes} bytes; ${blob_ref}]`;
}

/** Data as the model reads it: JSON with keys in canonical order, so equal data gives equal text. */
function jsonText(data: unknown): string {
  return JSON.stringify(decode(encode(jsonValue(data))));
}
