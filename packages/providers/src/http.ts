/** One POST with a deadline and a bound on the answer. Everything that goes wrong outside is data. */

/** The largest answer that is read: far above any completion, far below memory. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** What came of a request. */
export type Reply =
  | { readonly kind: 'response'; readonly status: number; readonly headers: Headers; readonly body: Uint8Array }
  | { readonly kind: 'timeout' | 'cancelled' | 'network' | 'too_large' };

/** What to send, and under which limits. */
export interface Post {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
}

/** Sends a request and reads the whole answer. Never throws for outside failures. */
export async function post(ask: Post): Promise<Reply> {
  if (ask.signal.aborted) return { kind: 'cancelled' };
  const controller = new AbortController();
  const cancel = () => controller.abort();
  ask.signal.addEventListener('abort', cancel, { once: true });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, ask.timeoutMs);
  try {
    return await exchange(ask, controller.signal);
  } catch {
    // The engine's error text differs between releases and may hold the address; the kind is what matters.
    if (ask.signal.aborted) return { kind: 'cancelled' };
    return { kind: timedOut ? 'timeout' : 'network' };
  } finally {
    clearTimeout(timer);
    ask.signal.removeEventListener('abort', cancel);
    controller.abort(); // an answer that was not read to its end gives its connection up
  }
}

async function exchange(ask: Post, signal: AbortSignal): Promise<Reply> {
  const { url, headers, body } = ask;
  // A redirect is not followed: it would carry the prompt, and perhaps a key in a header, to somebody else.
  const init = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
  const response = await ask.fetch(url, init as RequestInit);
  const bytes = await readBounded(response);
  if (bytes === undefined) return { kind: 'too_large' };
  return { kind: 'response', status: response.status, headers: response.headers, body: bytes };
}

async function readBounded(response: Response): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    size += part.value.length;
    if (size > BODY_BYTES_MAX) return undefined;
    parts.push(part.value);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}
