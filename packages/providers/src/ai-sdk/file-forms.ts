/** Files in the forms of the SDK's specifications: those that we send, and those that a model answered with. */
import * as z from '@reprise/contracts/schema';
import { isJsonObject } from '../model/json.js';
import type { UnifiedMedia } from '../model/model.js';
import { base64Of, fileNameOf, isImage } from '../wire/request-fields.js';
import type { ReturnedData, SaidPart, SentData, ShownPart } from './call-rules.js';
import type { Specification } from './language-model.js';

/** A file of a user message: up to `v3` its data is the bytes, from `v4` on an object that says what it is. */
export function saidFile(media: UnifiedMedia, specification: Specification): SaidPart {
  const { mediaType } = media;
  return { type: 'file', mediaType, data: fileDataOf(base64Of(media), specification), filename: fileNameOf(media) };
}

/** A file of a tool result, which each specification writes in a form of its own. */
export function shownFile(media: UnifiedMedia, specification: Specification): ShownPart {
  const { mediaType } = media;
  const data = base64Of(media);
  if (specification === 'v4')
    return { type: 'file', mediaType, data: { type: 'data', data }, filename: fileNameOf(media) };
  if (specification === 'v2') return { type: 'media', mediaType, data };
  return isImage(media)
    ? { type: 'image-data', data, mediaType }
    : { type: 'file-data', filename: fileNameOf(media), data, mediaType };
}

function fileDataOf(data: string, specification: Specification): SentData {
  return specification === 'v4' ? { type: 'data', data } : data;
}

/** The data of a file that a model answered with, in the form of either generation: bytes, or an address. */
export const answeredData = z.union([
  z.string().min(1),
  z.strictObject({ type: z.literal('data'), data: z.string().min(1) }),
  z.strictObject({ type: z.literal('url'), url: z.string().min(1) }),
]);

/**
 * The data of a file that a model answered with, as a specification takes it back: the package may have been exchanged
 * for one of the other generation since. Undefined when the specification has no form for it.
 */
export function returnedData(
  given: z.infer<typeof answeredData>,
  specification: Specification,
): ReturnedData | undefined {
  if (typeof given === 'string') return fileDataOf(given, specification);
  if (given.type === 'data') return fileDataOf(given.data, specification);
  return specification === 'v4' ? given : undefined;
}

/** The data of a file of an answer as JSON: bytes as base64, an address as text. */
export function storedData(given: unknown): unknown {
  if (given instanceof Uint8Array) return base64Of({ bytes: given });
  if (!isJsonObject(given)) return given;
  const { type, data, url }: Readonly<Record<string, unknown>> = given;
  if (type === 'data') return { type, data: storedData(data) };
  return type === 'url' && url instanceof URL ? { type, url: url.href } : given;
}
