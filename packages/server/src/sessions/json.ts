/** JSON of requests and answers. A link is the text of its digest; bytes do not occur. */
import { isRef } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import type * as z from '@reprise/contracts/schema';
import { Problem } from './problem.js';

/** A value as JSON, as clients get it. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (isRef(one) ? `sha256:${one.hex}` : one));
}

/** An answer with a value. */
export function jsonResponse(value: unknown, status = 200): Response {
  return new Response(jsonText(value), { status, headers: { 'content-type': 'application/json' } });
}

interface Checked<T> extends z.AnySchema {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false;
        readonly error: {
          readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
        };
      };
}

/** The body of a request. @throws Problem for text that is no JSON, and for a value that does not fit, with its place */
export function parseBody<T>(text: string, schema: Checked<T>): T {
  const parsed = schema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the body' : issue.path.map(String).join('.');
  throw new Problem(400, 'invalid_argument', `The body does not fit: ${issue?.message ?? 'invalid'}`, { where });
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new Problem(400, 'not_json', 'The body is not JSON.');
  }
}
