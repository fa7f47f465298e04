/**
 * Finds the secrets among the settings of an app. Options do not mark them, so these rules do: header values except
 * those of known headers, credentials in addresses, and texts that look like keys.
 */
import type { Scrubber } from './scrubber.js';

/** Headers without secrets; the value of any other is concealed. */
const OPEN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'anthropic-beta',
  'anthropic-version',
  'cache-control',
  'connection',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'date',
  'host',
  'http-referer',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'openai-beta',
  'origin',
  'pragma',
  'range',
  'referer',
  'te',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'user-agent',
  'x-title',
]);

/** Names that people give to secrets. */
const SECRET_NAME =
  /key|token|secret|passw|passphrase|\bpwd\b|_pwd|cred|auth|cookie|session|signature|\bsig\b|bearer|private/i;

/** The user and password of an address with several hosts, as of databases; URL refuses such an address. */
const USER_IN_ADDRESS = /^[a-z][a-z\d+.-]{0,31}:\/\/([^/?#@\s]*:[^/?#@\s]*)@/i;

/** The options of programs that take `user:password`. */
const USER_OPTION = /^(?:-u|-U|--user|--proxy-user|--userpwd)$/;

/** The shortest text that can look like a key, and how many digits it needs. */
const KEY_LENGTH_MIN = 16;
const KEY_DIGITS_MIN = 4;

/** Conceals the values of headers, and their parts: a token after its scheme, a password in Basic, a cookie. */
export function concealHeaders(scrubber: Scrubber, headers: Iterable<readonly [name: string, value: string]>): void {
  for (const [name, value] of headers) if (!OPEN_HEADERS.has(name.toLowerCase())) concealHeader(scrubber, value);
}

function concealHeader(scrubber: Scrubber, value: string): void {
  scrubber.conceal(value);
  const [, scheme, rest] = /^\s*([A-Za-z][\w-]*)\s+(\S.*)$/s.exec(value) ?? [];
  if (rest !== undefined) scrubber.conceal(rest);
  if (rest !== undefined && scheme?.toLowerCase() === 'basic') concealUser(scrubber, decodedBase64(rest.trim()));
  for (const [, part = ''] of value.matchAll(/=\s*"?([^;,"]+)/g)) scrubber.conceal(part);
}

function concealUser(scrubber: Scrubber, user: string): void {
  scrubber.conceal(user);
  const at = user.indexOf(':');
  if (at >= 0) scrubber.conceal(user.slice(at + 1));
}

/**
 * Conceals the secrets in an address: user and password, and texts that look like a key in its path, query and
 * fragment.
 */
export function concealAddress(scrubber: Scrubber, address: string | URL): void {
  const url = parsed(address);
  if (url === undefined) {
    const user = USER_IN_ADDRESS.exec(String(address))?.[1];
    for (const text of user === undefined ? [] : [user, unescaped(user)]) concealUser(scrubber, text);
    return;
  }
  const [user, password] = [url.username, url.password].map(unescaped);
  if (user !== undefined && password !== undefined && `${user}${password}` !== '') {
    for (const text of [`${user}:${password}`, password, `${url.username}:${url.password}`]) scrubber.conceal(text);
    if (password === '' || looksLikeKey(user)) scrubber.conceal(user);
  }
  const fragment = url.hash.slice(1);
  if (looksLikeKey(fragment)) scrubber.conceal(fragment);
  for (const [name, value] of [...url.searchParams, ...new URLSearchParams(fragment)]) {
    if (SECRET_NAME.test(name) || looksLikeKey(value)) scrubber.conceal(value);
  }
  for (const segment of url.pathname.split('/').map(unescaped)) if (looksLikeKey(segment)) scrubber.conceal(segment);
}

/** Conceals environment variables of a program that are named like secrets or look like keys. */
export function concealVariables(scrubber: Scrubber, variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) {
    concealAddress(scrubber, value);
    if (SECRET_NAME.test(name)) concealHeader(scrubber, value);
    else if (!isSetting(value)) scrubber.conceal(value);
  }
}

/** Typical plain settings: a word, a number, a folder. They occur in output and conversation, so they stay readable. */
function isSetting(value: string): boolean {
  return /^[A-Za-z]+$/.test(value) || /^[\d.,:]+$/.test(value) || /^[./~]/.test(value);
}

/**
 * Conceals what looks like a secret among the arguments of a program: `--token X`, `--token=X`, `-u ann:X`, headers,
 * addresses, keys.
 */
export function concealArguments(scrubber: Scrubber, args: readonly string[]): void {
  for (const [i, arg] of args.entries()) {
    const [, name, value] = /^-{0,2}([\w.-]+)[=:](.*)$/s.exec(arg) ?? [];
    if (value !== undefined && (SECRET_NAME.test(name ?? '') || looksLikeKey(value))) concealHeader(scrubber, value);
    const before = args[i - 1] ?? '';
    if (looksLikeKey(arg) || (/^-/.test(before) && SECRET_NAME.test(before) && !arg.startsWith('-'))) {
      concealHeader(scrubber, arg);
    }
    if (USER_OPTION.test(before)) concealUser(scrubber, arg);
    if (value !== undefined && USER_OPTION.test(`--${name}`)) concealUser(scrubber, value);
    for (const text of value === undefined ? [arg] : [arg, value]) {
      concealAddress(scrubber, text);
      const [, header] = /^[\w-]+:\s*(.+)$/s.exec(text) ?? [];
      if (header !== undefined && SECRET_NAME.test(text)) concealHeader(scrubber, header);
    }
  }
}

/** Whether a text looks like a key: long, of letters and digits, without blanks, and not a path. */
function looksLikeKey(text: string | undefined): boolean {
  if (text === undefined || text.length < KEY_LENGTH_MIN || /[\s/\\]/.test(text)) return false;
  return /[A-Za-z]/.test(text) && text.replace(/\D/g, '').length >= KEY_DIGITS_MIN;
}

function parsed(address: string | URL): URL | undefined {
  if (typeof address !== 'string') return address;
  return /^[a-z][a-z\d+.-]*:\/\//i.test(address) && URL.canParse(address) ? new URL(address) : undefined;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function decodedBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0)));
  } catch {
    return '';
  }
}
