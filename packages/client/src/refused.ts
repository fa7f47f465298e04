/** A request that a server of sessions refused. */

/** A refusal, with the code of the server's closed list. */
export class Refused extends Error {
  /** The status of HTTP. */
  readonly status: number;
  /** Why, as a code: `token_needed`, `not_found`, `request_conflict` and others. */
  readonly code: string;
  /** The details of the refusal, such as `where` and `reason`. */
  readonly about: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    const { code, detail } = body;
    super(typeof detail === 'string' ? detail : `The server answered ${status}.`);
    this.name = 'Refused';
    this.status = status;
    this.code = typeof code === 'string' ? code : `http_${status}`;
    this.about = body;
  }
}

/** The refusal that an answer is. */
export async function refusedBy(answer: Response): Promise<Refused> {
  const body: unknown = await answer.json().catch(() => ({}));
  return new Refused(answer.status, typeof body === 'object' && body !== null ? { ...body } : {});
}
