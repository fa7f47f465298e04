/** Files of a page, compressed once; a browser that has one is only told that it is still the same. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { isObject, requireArgument } from '@reprise/contracts';

/** A file, as it may be sent. */
export interface PageFile {
  readonly type: string;
  readonly etag: string;
  /** Its bytes by the name of their encoding, the smallest first. */
  readonly bodies: readonly (readonly [encoding: string, body: Uint8Array<ArrayBuffer>])[];
}

/** The best quality takes thirty times as long for 8 % fewer bytes, and a page waits for it at each start of its server. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/**
 * Prepares a file to be sent: compresses it.
 *
 * @param type its media type: `text/css; charset=utf-8`
 * @throws RepriseError `invalid_argument` for what is no text
 */
export function pageFile(type: string, text: string): PageFile {
  requireArgument(typeof type === 'string' && type !== '', 'pageFile(type)', 'a media type, as text', type);
  requireArgument(typeof text === 'string', 'pageFile(text)', 'the text of the file', text);
  const plain = Buffer.from(text);
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  const bodies = [
    ['br', brotliCompressSync(plain, BROTLI)],
    ['gzip', gzipSync(plain, { level: 9 })],
    ['identity', plain],
  ] as const;
  return { type, etag, bodies: bodies.map(([encoding, body]) => [encoding, new Uint8Array(body)]) };
}

/**
 * Answers a request for a file: with nothing when the browser has it, else in an encoding that the browser takes.
 *
 * @throws RepriseError `invalid_argument` for what is no file or no headers
 */
export function sentFile(file: PageFile, headers: IncomingHttpHeaders): Response {
  const isFile = isObject(file) && Array.isArray(file.bodies) && typeof file.etag === 'string';
  requireArgument(isFile, 'sentFile(file)', 'a file, from pageFile(…)', file);
  requireArgument(isObject(headers), 'sentFile(headers)', 'the headers of a request', headers);
  const { status, headers: own, body } = fileReply(file, headers);
  return new Response(body, { status, headers: own });
}

/** An answer to a request for a file. */
interface FileReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | null;
}

/** What {@link sentFile} answers, without a `Response`: the first one of a process loads all of `fetch`. */
export function fileReply({ type, etag, bodies }: PageFile, headers: IncomingHttpHeaders): FileReply {
  // The browser keeps the file and asks each time: a page and a script of different builds never meet.
  const common = { etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
  const known = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag)) return { status: 304, headers: common, body: null };
  const taken = takenEncodings(headers['accept-encoding']);
  const [encoding = 'identity', body] = bodies.find(([name]) => name === 'identity' || taken.has(name)) ?? [];
  const named: Readonly<Record<string, string>> = encoding === 'identity' ? {} : { 'content-encoding': encoding };
  return { status: 200, headers: { ...common, ...named, 'content-type': type }, body: body ?? null };
}

/** The encodings that a browser names, but for those that it refuses with `q=0`. */
function takenEncodings(header: string | string[] = ''): ReadonlySet<string> {
  const parts = String(header)
    .split(',')
    .map((part) =>
      part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/),
    );
  return new Set(parts.filter(([, quality = '']) => !/^q=0(?:\.0*)?$/.test(quality)).map(([name = '']) => name));
}
