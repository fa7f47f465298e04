/** Refusals of JSON-RPC that belong to no request. */

export const BAD_REQUEST = -32_000;
export const PARSE_ERROR = -32_700;
export const INTERNAL_ERROR = -32_603;

/** An error of the protocol that belongs to no request. */
export function refusal(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
}
