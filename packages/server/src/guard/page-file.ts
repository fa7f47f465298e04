/** Files of a page, compressed once; a browser that has one is only told that it is still the same. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** A file, as it may be sent. */
export interface PageFile {
  readonly type: string;
  readonly etag: string;
  /** Its bytes by the name of their encoding, the smallest first. */
  readonly bodies: readonly (readonly [encoding: string, body: Uint8Array<ArrayBuffer>])[];
}

/** Prepares a file to be sent: compresses it. */
export function pageFile(type: string, text: string): PageFile {
  const plain = Buffer.from(text);
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  const bodies = [
    ['br', brotliCompressSync(plain)],
    ['gzip', gzipSync(plain, { level: 9 })],
    ['identity', plain],
  ] as const;
  return { type, etag, bodies: bodies.map(([encoding, body]) => [encoding, new Uint8Array(body)]) };
}

/** Answers a request for a file: with nothing when the browser has it, else in an encoding that the browser takes. */
export function sentFile({ type, etag, bodies }: PageFile, headers: IncomingHttpHeaders): Response {
  // The browser keeps the file and asks each time: a page and a script of different builds never meet.
  const common = { etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
  const known = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag)) return new Response(null, { status: 304, headers: common });
  const taken = takenEncodings(headers['accept-encoding']);
  const [encoding = 'identity', body] = bodies.find(([name]) => name === 'identity' || taken.has(name)) ?? [];
  const named = encoding === 'identity' ? {} : { 'content-encoding': encoding };
  return new Response(body, { headers: { ...common, ...named, 'content-type': type } });
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
