/**
 * Finds what a reader could take for a mark: a bracket and the name of the mark, in any spelling.
 *
 * Owns: which characters look like a bracket, a slash or a letter of the name, which are invisible, and which spellings
 * (entities, percent, backslash) decode to them. Tables are written out: those of engines change with Unicode.
 */

import { asciiLower } from '../errors/portable.js';

/** A character of a text as a reader sees it, and the place where its spelling begins. */
interface Seen {
  readonly code: number;
  readonly at: number;
}

/** Without any of these a text has no bracket, however it is read. */
const MAY_MARK = /[<&%\\]|[^\0-\x7f]/;

/** How often a text is decoded: encodings of encodings. */
const DECODINGS_MAX = 8;

/** The places in a text at which the name of a mark begins, in ascending order. */
export function markNames(text: string): readonly number[] {
  if (!MAY_MARK.test(text)) return [];
  const found = new Set<number>();
  // Tag characters are invisible, and readers exist that take them for the ASCII they are made after.
  for (const tags of ['hidden', 'read'] as const) {
    if (tags === 'read' && !/\udb40[\udc20-\udc7f]/.test(text)) continue;
    for (const at of namesIn(seenIn(text, tags))) found.add(at);
  }
  return [...found].sort((a, b) => a - b);
}

/** A name as characters that stand in one line, with none that could end it. */
export function lineOf(name: string): string {
  return seenIn(name, 'hidden', isJoiner)
    .map(({ code }) => LINE[classOf(code)] ?? String.fromCodePoint(code))
    .join('');
}

/** What stands in a name for a character that could end it, or begin a mark. */
const LINE: Readonly<Record<string, string>> = { '<': '(', '>': ')', '"': "'", ' ': ' ' };

/**
 * One match of a bracket and the name. Between them may stand what a mark of an end or a rendering puts there; longer
 * words that begin so are taken for the name as well.
 */
const NAME = /<[ /\\*_~`!:]*(?:quoted-)*([s5$?])([a4@?])([i1l|!?])([d?])/g;

/** Characters that Markdown takes away when it is rendered. */
const RENDERED_AWAY = new Set([...'*_~`\\'].map((char) => char.charCodeAt(0)));

function namesIn(seen: readonly Seen[]): number[] {
  const kept = seen.filter(({ code }) => !RENDERED_AWAY.has(code));
  const shape = kept.map(({ code }) => classOf(code)).join('');
  const found: number[] = [];
  for (const match of shape.matchAll(NAME)) {
    // A word of another script alone is not the name: two letters at least are told.
    if (match.slice(1).filter((letter) => letter !== '?').length < 2) continue;
    const at = kept[match.index + match[0].length - 4]?.at;
    if (at !== undefined) found.push(at);
  }
  return found;
}

/** The characters that are seen, decoded until nothing changes. */
function seenIn(text: string, tags: 'hidden' | 'read', keeps: (code: number) => boolean = () => false): Seen[] {
  let seen: Seen[] = [];
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    const isTag = code >= 0xe0020 && code <= 0xe007e;
    if (isTag && tags === 'read') seen.push({ code: code - 0xe0000, at });
    else if (keeps(code) || !isIn(HIDDEN, code)) seen.push({ code, at });
    at += code > 0xffff ? 2 : 1;
  }
  for (let i = 0; i < DECODINGS_MAX; i++) {
    const decoded = decodedOnce(seen, keeps);
    if (decoded.length === seen.length) break;
    seen = decoded;
  }
  return seen;
}

/** Entities, percent and backslash spellings of one character. */
const ENCODED =
  /&(?:(?:amp|#0*38|#x0*26);)*(?:#0*([0-9]{1,7})|#x0*([0-9a-f]{1,6})|(amp|lt|gt|quot|apos|lang|rang|laquo|raquo|lsaquo|rsaquo|langle|rangle|sol|newline|shy|zwnj|zwj|nbsp));?|%(?:25)*([0-9a-f]{2})|\\+(?:u([0-9a-f]{4})|u\{0*([0-9a-f]{1,6})\}|x([0-9a-f]{2}))/g;

/** The characters of named entities. */
const ENTITIES: Readonly<Record<string, number>> = {
  amp: 0x26,
  lt: 0x3c,
  gt: 0x3e,
  quot: 0x22,
  apos: 0x27,
  lang: 0x3c,
  rang: 0x3e,
  laquo: 0xab,
  raquo: 0xbb,
  lsaquo: 0x2039,
  rsaquo: 0x203a,
  langle: 0x3c,
  rangle: 0x3e,
  sol: 0x2f,
  newline: 0x0a,
  shy: 0xad,
  zwnj: 0x200c,
  zwj: 0x200d,
  nbsp: 0xa0,
};

function decodedOnce(seen: readonly Seen[], keeps: (code: number) => boolean): Seen[] {
  // One unit for each character, so that places in this text are places in the list. No encoding has others than ASCII.
  const ascii = seen.map(({ code }) => (code < 0x80 ? asciiLower(String.fromCharCode(code)) : '\u{80}')).join('');
  const decoded: Seen[] = [];
  let from = 0;
  for (const match of ascii.matchAll(ENCODED)) {
    const [spelling, decimal, hex, named = '', percent, ...escapes] = match;
    const digits = hex ?? percent ?? escapes.slice(0, 3).find((one) => one !== undefined);
    const code =
      decimal === undefined
        ? digits === undefined
          ? (ENTITIES[named] ?? 0)
          : Number.parseInt(digits, 16)
        : Number(decimal);
    const at = seen[match.index]?.at ?? 0;
    for (let i = from; i < match.index; i++) decoded.push(seen[i] as Seen);
    from = match.index + spelling.length;
    if (code <= 0x10ffff && (keeps(code) || !isIn(HIDDEN, code))) decoded.push({ code, at });
  }
  for (let i = from; i < seen.length; i++) decoded.push(seen[i] as Seen);
  return decoded;
}

/** A character as one of its look: a bracket, a quote, a space, a slash, a letter of the name, or itself. */
function classOf(code: number): string {
  if (code < 0x80) return ASCII[code] ?? '-';
  if (isIn(OPENING, code)) return '<';
  if (isIn(CLOSING, code)) return '>';
  if (isIn(QUOTES, code)) return '"';
  if (isIn(SPACES, code)) return ' ';
  if (isIn(SLASHES, code)) return '/';
  return LOOKS.get(code) ?? letterOf(code) ?? '?';
}

/** ASCII as it stands, in lower case; spaces and line breaks are one. The wildcard of the pattern is not among them. */
const ASCII: readonly string[] = Array.from({ length: 0x80 }, (_, code) => {
  if (code === 0x3f) return '-';
  return (code >= 0x09 && code <= 0x0d) || code === 0x20 ? ' ' : asciiLower(String.fromCharCode(code));
});

/** A letter of an alphabet that is Latin in another dress: full width, circled, mathematical. */
function letterOf(code: number): string | undefined {
  for (const [first, last, letters] of ALPHABETS) {
    if (code >= first && code <= last) return String.fromCharCode(0x61 + ((code - first) % letters));
  }
  return undefined;
}

/** Alphabets: their first and last character, and how many follow until they begin anew. */
const ALPHABETS: readonly (readonly [first: number, last: number, letters: number])[] = [
  [0xff21, 0xff3a, 26],
  [0xff41, 0xff5a, 26],
  [0x24b6, 0x24e9, 26],
  [0x249c, 0x24b5, 26],
  [0x1d400, 0x1d6a3, 26],
  [0x1f110, 0x1f129, 26],
  [0x1f130, 0x1f149, 26],
  [0x1f150, 0x1f169, 26],
  [0x1f170, 0x1f189, 26],
  [0x1f1e6, 0x1f1ff, 26],
];

/** Letters of other alphabets that look like one of the name. */
const LOOKS: ReadonlyMap<number, string> = new Map(
  Object.entries({
    s: 'ſśŝşšșṡṣƽȿʂѕꜱѕЅՏႽᏚᏕꓢꙅꞅˢₛ𐊖𐐠𐑈𑣁',
    a: 'àáâãäåāăąǎǟǡǻȁȃȧạảấầẩẫậắằẳẵặḁɑɐаАαΑаꓮᗅᎪᴀ⍺ªᵃₐⱥ𐊠',
    i: 'ìíîïĩīĭįıǐȉȋỉịḭḯɨɩɪіІїιΙίϊוןاӏⵏꓲᎥꭵℹⅰⅠⁱᵢ¡𑣃',
    d: 'đďḋḍḏḑḓɖɗƌȡԁԀⅾⅮꓒᏧᑯᗞᗪꓓᎠᴅðÐᵈⅆⅅ',
  }).flatMap(([letter, looks]) => [...looks].map((look) => [look.codePointAt(0) ?? 0, letter] as const)),
);

type Ranges = readonly (readonly [first: number, last: number])[];

function isIn(ranges: Ranges, code: number): boolean {
  for (const [first, last] of ranges) if (code >= first && code <= last) return true;
  return false;
}

/** Characters that join or vary those beside them: words of many languages need them. */
function isJoiner(code: number): boolean {
  return code === 0x200c || code === 0x200d || (code >= 0x300 && code <= 0x36f) || (code >= 0xfe00 && code <= 0xfe0f);
}

/** Characters that are not seen, or only at another: controls, joiners, directions, accents, lone surrogates. */
const HIDDEN: Ranges = [
  [0x00, 0x08],
  [0x0e, 0x1f],
  [0x7f, 0x84],
  [0x86, 0x9f],
  [0xad, 0xad],
  [0x300, 0x36f],
  [0x483, 0x489],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x20d0, 0x20ff],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0f],
  [0xfe20, 0xfe2f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

const SPACES: Ranges = [
  [0x85, 0x85],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
];

const SLASHES: Ranges = [
  [0x1735, 0x1735],
  [0x2044, 0x2044],
  [0x2215, 0x2216],
  [0x2571, 0x2572],
  [0x27cb, 0x27cb],
  [0x29f5, 0x29f9],
  [0x30ce, 0x30ce],
  [0x3033, 0x3033],
  [0x4e3f, 0x4e3f],
  [0xfe68, 0xfe68],
  [0xff0f, 0xff0f],
  [0xff3c, 0xff3c],
];

const OPENING: Ranges = [
  [0xab, 0xab],
  [0x2c2, 0x2c2],
  [0x1438, 0x1438],
  [0x16b2, 0x16b2],
  [0x2039, 0x2039],
  [0x2264, 0x2264],
  [0x2266, 0x2266],
  [0x2268, 0x2268],
  [0x226a, 0x226a],
  [0x226e, 0x226e],
  [0x227a, 0x227a],
  [0x22d6, 0x22d6],
  [0x22d8, 0x22d8],
  [0x2329, 0x2329],
  [0x25c0, 0x25c5],
  [0x276c, 0x276c],
  [0x276e, 0x276e],
  [0x2770, 0x2770],
  [0x27e8, 0x27e8],
  [0x27ea, 0x27ea],
  [0x2991, 0x2991],
  [0x29fc, 0x29fc],
  [0x2a79, 0x2a79],
  [0x2aa1, 0x2aa1],
  [0x2af7, 0x2af7],
  [0x3008, 0x3008],
  [0x300a, 0x300a],
  [0xfe3d, 0xfe3d],
  [0xfe3f, 0xfe3f],
  [0xfe64, 0xfe64],
  [0xff1c, 0xff1c],
  [0x1d236, 0x1d236],
];

const CLOSING: Ranges = [
  [0xbb, 0xbb],
  [0x2c3, 0x2c3],
  [0x1433, 0x1433],
  [0x203a, 0x203a],
  [0x2265, 0x2265],
  [0x2267, 0x2267],
  [0x2269, 0x2269],
  [0x226b, 0x226b],
  [0x226f, 0x226f],
  [0x227b, 0x227b],
  [0x22d7, 0x22d7],
  [0x22d9, 0x22d9],
  [0x232a, 0x232a],
  [0x25b6, 0x25bb],
  [0x276d, 0x276d],
  [0x276f, 0x276f],
  [0x2771, 0x2771],
  [0x27e9, 0x27e9],
  [0x27eb, 0x27eb],
  [0x2992, 0x2992],
  [0x29fd, 0x29fd],
  [0x2a7a, 0x2a7a],
  [0x2aa2, 0x2aa2],
  [0x2af8, 0x2af8],
  [0x3009, 0x3009],
  [0x300b, 0x300b],
  [0xfe3e, 0xfe3e],
  [0xfe40, 0xfe40],
  [0xfe65, 0xfe65],
  [0xff1e, 0xff1e],
  [0x1d237, 0x1d237],
];

const QUOTES: Ranges = [
  [0x2ba, 0x2ba],
  [0x2dd, 0x2dd],
  [0x2ee, 0x2ee],
  [0x2f6, 0x2f6],
  [0x5f2, 0x5f4],
  [0x201c, 0x201f],
  [0x2033, 0x2034],
  [0x2036, 0x2037],
  [0x275d, 0x275e],
  [0x2760, 0x2760],
  [0x301d, 0x301f],
  [0x3003, 0x3003],
  [0xff02, 0xff02],
];
