/** The parts of an input, as apps write them and as they are recorded. */
import {
  endOfText,
  fieldsOf,
  type InputPart,
  isFields,
  isFilled,
  isRef,
  kindOfThing,
  present,
  promiseHint,
  type Ref,
  RepriseError,
  shortText,
} from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import type { ChildEntry } from '../contracts/state.js';
import type { Artifact } from '../contracts/tool-call.js';
import { contentType, SNIFF_BYTES, typeFields } from '../tools/output/media-type.js';

/** How much of linked content the model is given; all of it when absent. */
export type PartView = 'full' | 'summary' | { readonly head: number };

/** A part of an input: a text, content by link or as bytes, a tool's file, or a child's result. */
export type Part =
  | string
  | { readonly ref: Ref; readonly mediaType?: string; readonly name?: string; readonly view?: PartView }
  | { readonly bytes: Uint8Array; readonly mediaType: string; readonly name?: string; readonly view?: PartView }
  | { readonly artifact: Artifact; readonly view?: PartView }
  | { readonly result: string; readonly view?: PartView };

/** What a message to an agent consists of, in order. */
export type Input = Part | readonly Part[];

/** How many parts one input may have. */
const PARTS_MAX = 16;
const FORMS = 'text, or a part with one of ref, bytes, artifact, result';

/**
 * Stores the parts of an input as content.
 *
 * @param childOf finds a child of the session by the name its model uses
 * @throws RepriseError `invalid_argument`
 */
export async function storeParts(
  content: ContentStore,
  input: Input,
  childOf: (name: string) => Promise<ChildEntry | undefined>,
): Promise<InputPart[]> {
  const parts = Array.isArray(input) ? (input as readonly Part[]) : [input as Part];
  if (parts.length === 0 || parts.length > PARTS_MAX) throw wrong(`1 to ${PARTS_MAX} parts`, `${parts.length} parts`);
  const stored: InputPart[] = [];
  for (const part of parts) stored.push(await storePart(content, part, childOf));
  return stored;
}

async function storePart(
  content: ContentStore,
  part: Part,
  childOf: (name: string) => Promise<ChildEntry | undefined>,
): Promise<InputPart> {
  if (typeof part === 'string') {
    const bytes = new TextEncoder().encode(part);
    return { kind: 'text', text_ref: await content.put(bytes), bytes: bytes.length };
  }
  if (!isFields(part)) throw wrong(FORMS, kindOfThing(part), promiseHint(part));
  const view = part.view ?? 'full';
  if ('result' in part) {
    const output_ref = (await childOf(part.result))?.output_ref ?? undefined;
    if (output_ref === undefined) throw wrong('the name of a child that has a result', kindOfThing(part.result));
    return { kind: 'result', child: part.result, output_ref, view, ...(await sizeIn(content, output_ref)) };
  }
  if ('artifact' in part) {
    requireArtifact(part.artifact);
    const { blob_ref, media_type, path, bytes, declared_type: declared } = part.artifact;
    const { typed } = await linked(content, blob_ref, declared ?? media_type);
    return { kind: 'blob', blob_ref, view, name: endOfText(path, 256), ...typed, bytes };
  }
  const named = part.name === undefined ? {} : { name: part.name };
  if ('bytes' in part) {
    const { bytes, mediaType } = part;
    if (!(bytes instanceof Uint8Array)) throw wrong('bytes as a Uint8Array', kindOfThing(bytes));
    if (!isFilled(mediaType)) throw wrong("mediaType, such as 'image/png'", kindOfThing(mediaType));
    const typed = typeFields(contentType(bytes.subarray(0, SNIFF_BYTES), mediaType));
    return { kind: 'blob', blob_ref: await content.put(bytes), view, ...named, ...typed, bytes: bytes.length };
  }
  if (!('ref' in part)) throw wrong(FORMS, fieldsIn(part), textHint(part));
  if (!isRef(part.ref)) throw wrong('a link to content', kindOfThing(part.ref));
  const { typed, size } = await linked(content, part.ref, part.mediaType ?? '');
  return { kind: 'blob', blob_ref: part.ref, view, ...named, ...typed, ...size };
}

/** The type and the size of linked content; as declared where it is missing, or a value. */
async function linked(content: ContentStore, link: Ref, declared: string) {
  const found = await content.get(link);
  if (found === undefined || link.kind !== 'raw')
    return {
      typed: { media_type: declared || 'text/plain' },
      size: found === undefined ? {} : { bytes: found.length },
    };
  const typed = typeFields(contentType(found.subarray(0, SNIFF_BYTES), declared));
  return { typed, size: { bytes: found.length } };
}

/** The size of content in bytes; unknown for missing content, of which a model is shown nothing. */
async function sizeIn(content: ContentStore, link: Ref): Promise<{ readonly bytes?: number }> {
  const found = await content.get(link);
  return found === undefined ? {} : { bytes: found.length };
}

function requireArtifact(artifact: unknown): void {
  const { blob_ref, path, media_type } = fieldsOf(artifact);
  if (isRef(blob_ref) && typeof path === 'string' && isFilled(media_type)) return;
  throw wrong('an artifact, from run.result().artifacts', kindOfThing(artifact));
}

function fieldsIn(part: object): string {
  const names = Object.keys(part);
  return names.length === 0 ? kindOfThing(part) : shortText(`an object with ${names.join(', ')}`, 200);
}

/** Other libraries send a message as an object around its text. */
function textHint(part: object): string | undefined {
  const text = ['text', 'content', 'message'].find((name) => name in part);
  return text === undefined ? undefined : `Send the text itself: send(message.${text}).`;
}

function wrong(expected: string, actual: string, hint?: string): RepriseError {
  return new RepriseError('invalid_argument', 'invalid input', {
    where: 'input',
    expected,
    actual,
    ...present({ hint }),
  });
}
