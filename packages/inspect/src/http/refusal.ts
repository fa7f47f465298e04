/** Why a request is not carried out: a status of HTTP, and an error of the closed list. */
import type { RepriseError } from '@reprise/contracts';

/** A request that is not carried out, with the status that fits better than that of the code. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  /** @param headers further headers of the answer, such as `allow` of a 405 */
  constructor(
    readonly status: number,
    readonly error: RepriseError,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(error.message);
  }
}
