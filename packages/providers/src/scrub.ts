/** Keeps secrets out of what is stored: an endpoint may echo a header in an error or an answer. */

/**
 * The shortest secret that is looked for. Local servers are called with `none` or `ollama` as a key, and removing
 * such words from an answer would change what the model said.
 */
const SECRET_LENGTH_MIN = 16;

/** Replaces secrets in text. */
export type Scrub = (text: string) => string;

/**
 * Makes a scrubber for some secrets, in plain, base64 and URL form.
 *
 * @param secrets values that the client sends
 */
export function scrubber(secrets: readonly string[]): Scrub {
  const forms = secrets
    .filter((secret) => secret.length >= SECRET_LENGTH_MIN)
    .flatMap((secret) => [secret, base64(secret), encodeURIComponent(secret)])
    // The longest first: a form may contain another.
    .sort((a, b) => b.length - a.length);
  return (text) => forms.reduce((scrubbed, form) => scrubbed.replaceAll(form, '[secret]'), text);
}

function base64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  // Without padding: inside a longer encoding the last group continues.
  return btoa(String.fromCharCode(...bytes)).replace(/=+$/, '');
}
