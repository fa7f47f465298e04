/** Answers as programs read them, without anything of a world: both ends of the socket use them. */

export interface Told {
  readonly texts: readonly string[];
  readonly isError: boolean;
}

/** A refusal, as data that a model can act on. */
export function refusal(code: string, message: string, more: object = {}): Told {
  return { texts: [JSON.stringify({ code, message, ...more })], isError: true };
}
