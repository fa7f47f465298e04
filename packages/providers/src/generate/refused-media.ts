/**
 * Finds the image or the file that a provider refused, so that the error can offer to leave it out: the conversation would
 * otherwise meet the same refusal at every later request.
 */
import { isFields, parseOwnJson } from '@reprise/contracts';
import type { ModelResult, UnifiedMedia, UnifiedRequest, WrittenRequest } from '../model/model.js';
import { cut } from '../model/text.js';
import { ProviderError, terminal } from '../model/verdict.js';
import { base64Of } from '../wire/request-fields.js';

type Failed = ModelResult & { readonly ok: false };

/** An image or a file of a request, and where it stands, in words. */
interface Placed {
  readonly media: UnifiedMedia;
  readonly place: string;
}

/** Failures that may concern a single part. */
const ABOUT_REQUEST: readonly string[] = [
  'provider_error_terminal/bad_request',
  'provider_error_terminal/request_too_large',
];

/** Words that providers use of images and files. */
const ABOUT_MEDIA = /image|picture|photo|pdf|document|\bfile|media[ _-]?type|mime|base64|audio|video|attachment/i;

/** How many parts an error names when the provider does not say which it means. */
const NAMED_MAX = 4;

/** A failure of a call; when the provider refused an image or a file, its code says so, and its error names the part. */
export function namingMedia(failed: Failed, request: UnifiedRequest, written: () => WrittenRequest): Failed {
  const { failure, error } = failed;
  if (failure.status !== 'error' || !ABOUT_REQUEST.includes(failure.code ?? '')) return failed;
  const all = mediaOf(request);
  if (all.length === 0 || !(error instanceof ProviderError)) return failed;
  const said = [error.message, error.code ?? '', error.param ?? ''].join(' ');
  const meant = atPlace(all, said, written);
  if (meant === undefined && !ABOUT_MEDIA.test(said)) return failed;
  const { failure: refused } = terminal('media_refused');
  const { status, code, server, cause } = error;
  const message = `${cut(error.message, 200)}. ${offer((meant ?? all).slice(-NAMED_MAX))}`;
  return {
    ok: false,
    failure: { ...failure, ...refused },
    error: new ProviderError(message, {
      ...(status === undefined ? {} : { status }),
      ...(code === undefined ? {} : { code }),
      ...(server === undefined ? {} : { server }),
      cause,
    }),
  };
}

/** The images and files of a request that the transcript links. */
function mediaOf({ messages }: UnifiedRequest): Placed[] {
  return messages.flatMap((message, i) => {
    if (message.role === 'assistant') return [];
    const place = message.role === 'tool' ? `in the result of the call ${message.callId}` : `in message ${i + 1}`;
    const parts = message.role === 'tool' ? (message.media ?? []) : message.parts;
    return parts.flatMap((part) =>
      part.kind === 'media' && part.content !== undefined ? [{ media: part, place }] : [],
    );
  });
}

/** The parts at the place of the request that an error names; undefined when it names none that holds one. */
function atPlace(all: readonly Placed[], said: string, written: () => WrittenRequest): readonly Placed[] | undefined {
  const [, path] = /\b((?:messages|input|prompt)(?:\.\d+|\[\d+\])(?:\.\w+|\[\d+\])*)/.exec(said) ?? [];
  if (path === undefined) return undefined;
  const texts = textsIn(partAt(parseOwnJson(new TextDecoder().decode(written().body)), path));
  const found = all.filter(({ media }) => {
    const data = base64Of(media);
    return data !== '' && texts.some((text) => text.endsWith(data));
  });
  return found.length === 0 ? undefined : found;
}

/** The part of a body at a path, as far as the path leads: providers name fields of their own behind it. */
function partAt(body: unknown, path: string): unknown {
  let at: unknown = body;
  for (const step of path.split(/[.[\]]+/).filter((one) => one !== '')) {
    const next: unknown = Array.isArray(at)
      ? at[Number(step)]
      : isFields(at) && Object.hasOwn(at, step)
        ? at[step]
        : undefined;
    if (next === undefined) return at;
    at = next;
  }
  return at;
}

function textsIn(data: unknown): string[] {
  if (typeof data === 'string') return [data];
  return typeof data === 'object' && data !== null ? Object.values(data).flatMap(textsIn) : [];
}

function offer(parts: readonly Placed[]): string {
  const named = parts.map(({ media, place }) => {
    const { name, mediaType, bytes, content } = media;
    const what = mediaType.startsWith('image/') ? 'image' : 'file';
    return `the ${what} "${cut(name, 60)}" (${mediaType}, ${bytes.length} bytes) ${place}: session.drop("sha256:${content}")`;
  });
  return `${parts.length === 1 ? 'It can be left out' : 'One of these can be left out'}: ${named.join('; ')}`;
}
