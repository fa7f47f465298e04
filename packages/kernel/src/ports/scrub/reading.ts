/**
 * Reads text with its escapes undone: of JSON and JavaScript (`\/`, `\u0073`, also when it is quoted again and its
 * backslashes are doubled), of URLs (`%73`, `%2573`) and of HTML (`&#47;`, `&amp;#47;`). Other text stands for
 * itself.
 */

/** Text with its escapes undone. */
interface Reading {
  readonly units: Uint16Array;
  /** Where in the text each unit begins; one more at the end. */
  readonly starts: Int32Array;
  /** How many of the units are complete: after them an escape begins that the next text may continue. */
  readonly whole: number;
}

/** The maximum number of backslashes that are read as one. */
const BACKSLASHES_MAX = 16;

/** The maximum length of an unfinished escape, in units. */
const ESCAPE_LENGTH_MAX = 32;

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;

const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12, '"': 34, "'": 39, '/': 47 };
const ENTITIES: Readonly<Record<string, number>> = { amp: 38, lt: 60, gt: 62, quot: 34, apos: 39 };

type Units = Uint8Array | Uint16Array;

/**
 * The extent and meaning of an escape; undefined for no escape, `cut` for a possible beginning of one.
 * An `open` one is complete, and may still be the beginning of a longer one: `%25` of `%2573`.
 */
type Escape = { readonly end: number; readonly unit: number; readonly open?: boolean } | 'cut' | undefined;

/** Reads text; undefined when it contains no escape. */
export function readEscapes(text: Units): Reading | undefined {
  if (!text.includes(BACKSLASH) && !text.includes(PERCENT) && !text.includes(AMPERSAND)) return undefined;
  const units = new Uint16Array(text.length);
  const starts = new Int32Array(text.length + 1);
  let length = 0;
  let whole = Number.POSITIVE_INFINITY;
  for (let at = 0; at < text.length; ) {
    const unit = text[at] ?? 0;
    const found = escapeAt(text, at, unit);
    starts[length] = at;
    if (found === 'cut' || found?.open === true) whole = Math.min(whole, length);
    const read = found === undefined || found === 'cut' ? { end: at + 1, unit } : found;
    units[length++] = read.unit;
    at = read.end;
  }
  starts[length] = text.length;
  return { units: units.subarray(0, length), starts, whole: Math.min(whole, length) };
}

function escapeAt(text: Units, at: number, unit: number): Escape {
  if (unit === BACKSLASH) return backslashAt(text, at);
  if (unit !== PERCENT && unit !== AMPERSAND) return undefined;
  const ahead = String.fromCharCode(...text.subarray(at, at + ESCAPE_LENGTH_MAX));
  const found = unit === PERCENT ? percentIn(ahead) : entityIn(ahead);
  return typeof found === 'object' ? { ...found, end: at + found.end } : found;
}

function backslashAt(text: Units, at: number): Escape {
  let end = at + 1;
  while (text[end] === BACKSLASH && end - at < BACKSLASHES_MAX) end++;
  const next = text[end];
  if (next === undefined) return end - at < BACKSLASHES_MAX ? 'cut' : undefined;
  const letter = String.fromCharCode(next);
  const digits = letter === 'u' ? 4 : letter === 'x' ? 2 : 0;
  if (digits > 0) {
    const hex = String.fromCharCode(...text.subarray(end + 1, end + 1 + digits));
    if (/^[0-9a-f]*$/i.test(hex)) {
      return hex.length === digits ? { end: end + 1 + digits, unit: Number.parseInt(hex, 16) } : 'cut';
    }
  }
  const control = CONTROLS[letter];
  return control === undefined ? { end, unit: BACKSLASH } : { end: end + 1, unit: control };
}

/** `%41`, and `%2541` where what was escaped is escaped again. */
function percentIn(ahead: string): Escape {
  const [all, hex] = /^%(?:25){0,4}([0-9a-f]{2})/i.exec(ahead) ?? [];
  const open = /^%(?:25){0,4}[0-9a-f]?$/i.test(ahead);
  if (all !== undefined && hex !== undefined) return { end: all.length, unit: Number.parseInt(hex, 16), open };
  return open ? 'cut' : undefined;
}

/** `&lt;`, `&#60;`, `&#x3c;`, and `&amp;lt;` where what was escaped is escaped again. */
function entityIn(ahead: string): Escape {
  const found = /^&(?:amp;){0,4}(?:([a-z]{2,4})|#(\d{1,5})|#x([0-9a-f]{1,4}));/i.exec(ahead);
  const open = /^&(?:amp;){0,4}(?:[a-z]{0,4}|#\d{0,5}|#x[0-9a-f]{0,4})$/i.test(ahead);
  const [all = '', name, decimal, hex] = found ?? [];
  const unit = name === undefined ? Number.parseInt(hex ?? decimal ?? '', hex === undefined ? 10 : 16) : ENTITIES[name];
  if (unit !== undefined && unit <= 0xffff) return { end: all.length, unit, open };
  return open ? 'cut' : undefined;
}
