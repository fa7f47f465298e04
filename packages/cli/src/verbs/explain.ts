/** `reprise explain`: the page of an error code, or the list of all codes. */
import { ERROR_CODES, type ErrorCode, RepriseError } from '@reprise/contracts';
import { readPage, summaryOf } from '../process/error-pages.js';
import type { Io } from '../process/io.js';
import { toJson } from '../text/json.js';

/** Prints the page of an error code; without a code, all codes with one line each. */
export async function explain(io: Io, code: string | undefined, options: { readonly json?: true }): Promise<void> {
  if (code === undefined) return list(io, options);
  const known = codeIn(code);
  const page = await readPage(known);
  await io.out.write(options.json === true ? `${toJson({ code: known, page })}\n` : page);
}

async function list(io: Io, options: { readonly json?: true }): Promise<void> {
  const codes = await Promise.all([...ERROR_CODES].sort().map(async (code) => ({ code, what: await summaryOf(code) })));
  const lines = codes.map(({ code, what }) => `${code}\n  ${what}\n`);
  await io.out.write(options.json === true ? `${toJson(codes)}\n` : lines.join(''));
}

/** Reads a code as it is written in a message: alone, or followed by the colon. */
function codeIn(text: string): ErrorCode {
  const code = ERROR_CODES.find((known) => known === text.replace(/:$/, ''));
  if (code !== undefined) return code;
  throw new RepriseError('invalid_argument', 'unknown error code', {
    expected: 'the code before the colon of a message, for example head_mismatch',
    actual: text,
    hint: '`reprise explain` without a code lists all of them.',
  });
}
