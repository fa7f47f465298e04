/** A request that a server of sessions refused. */
import { parseServerJson } from './server-json.js';

/** A refusal, with the code of the server's closed list. */
export class RequestRefused extends Error {
  /** The status of the answer, such as 404. */
  readonly status: number;
  /** Why, as a code: `token_needed`, `not_found`, `request_conflict` and others. */
  readonly code: string;
  /** The details of the refusal, such as `where` and `reason`. */
  readonly about: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    const { code, detail } = body;
    super(typeof detail === 'string' ? detail : `The server answered ${status}.`);
    this.name = 'RequestRefused';
    this.status = status;
    this.code = typeof code === 'string' ? code : `http_${status}`;
    this.about = body;
  }
}

/** The refusal that ends a stream. */
export function refusedIn(text: string): RequestRefused {
  const body = bodyIn(text);
  return new RequestRefused(typeof body.status === 'number' ? body.status : 500, body);
}

/** The refusal that an answer is. */
export async function refusedBy(answer: Response): Promise<RequestRefused> {
  const text = await answer.text().catch(() => '');
  return new RequestRefused(answer.status, bodyIn(text));
}

/** The fields of a refusal; of an answer that something else gave, such as a proxy, none. */
function bodyIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const body = parseServerJson(text);
    return typeof body === 'object' && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}
