/** What a server tells a page about a request that it does not carry out: a status and a sentence. */

/** A request over HTTP that is not carried out. The message is meant for the sender. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';

  /** @param headers further headers of the answer, such as `allow` of a 405 */
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
