/** What the protocol refuses within a stream: the run ends with an error, and nothing was done. */

/** A run that is refused, in words for its client. */
export class RunRefusal extends Error {
  constructor(
    readonly code: 'not_found' | 'already_settled' | 'invalid_argument' | 'decide_elsewhere',
    message: string,
  ) {
    super(message);
  }
}
