/** Keeps secrets out of what is stored and told: an endpoint may echo a header in an error or an answer. */

/**
 * The shortest secret that is looked for. Local servers are called with `none` or `ollama` as a key, and removing
 * such words from an answer would change what the model said.
 */
const SECRET_LENGTH_MIN = 16;

const IN_PLACE = '[secret]';

/** Replaces secrets in text, in plain, base64 and URL form. */
export class Scrubber {
  private readonly forms: readonly string[];

  /** @param secrets values that the client sends */
  constructor(secrets: readonly string[]) {
    this.forms = secrets
      .filter((secret) => secret.length >= SECRET_LENGTH_MIN)
      .flatMap((secret) => [secret, base64(secret), encodeURIComponent(secret)])
      // The longest first: a form may contain another.
      .sort((a, b) => b.length - a.length);
  }

  /** The text without secrets. */
  scrub(text: string): string {
    return this.forms.reduce((scrubbed, form) => scrubbed.replaceAll(form, IN_PLACE), text);
  }

  /** A scrubber of a text that comes in pieces. */
  piecewise(): PiecewiseScrubber {
    return new PiecewiseScrubber(
      (text) => this.scrub(text),
      (text) => this.formBegun(text),
    );
  }

  /** How many units at the end of a text may be the beginning of a secret. */
  private formBegun(text: string): number {
    return this.forms.reduce((most, form) => {
      let length = Math.min(form.length - 1, text.length);
      while (length > most && !form.startsWith(text.slice(-length))) length--;
      return Math.max(most, length);
    }, 0);
  }
}

/** Scrubs a text that comes in pieces: what may be the beginning of a secret waits for what follows. */
export class PiecewiseScrubber {
  private held = '';

  constructor(
    private readonly scrub: (text: string) => string,
    private readonly formBegun: (text: string) => number,
  ) {}

  /** What of the text so far is safe to tell, and was not told yet. */
  push(piece: string): string {
    const text = this.scrub(this.held + piece);
    const told = text.length - this.formBegun(text);
    this.held = text.slice(told);
    return text.slice(0, told);
  }

  /** The rest, at the end of the text. */
  end(): string {
    const rest = this.held;
    this.held = '';
    return rest;
  }
}

function base64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  // Without padding: inside a longer encoding the last group continues.
  return btoa(String.fromCharCode(...bytes)).replace(/=+$/, '');
}
