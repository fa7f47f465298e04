/**
 * A strict reader of the marks in texts for models, which shares no code with the module that writes them.
 *
 * Owns: the grammar of marks, and the renderings in which a text is read again. Each rendering undoes what a reader
 * could undo: encodings, invisible characters, look-alikes, Markdown. A text in which a rendering shows more marks than
 * the text itself is forged.
 */

/** Words of one party; `null` are words outside of all marks, of the party whose message it is. */
export interface Segment {
  readonly by: string | null;
  readonly words: string;
}

const OPEN = /<said by="([^"<>\n]*)"(?: shown="[^"<>\n]*")?>\n/y;
const CLOSE = '\n</said>';

/** @throws Error for a mark that is not well-formed, does not end, or stands inside another */
export function readMarks(text: string): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf('<said', at);
    if (next === -1) {
      segments.push({ by: null, words: text.slice(at) });
      break;
    }
    if (next > at) segments.push({ by: null, words: text.slice(at, next) });
    OPEN.lastIndex = next;
    const open = OPEN.exec(text);
    if (open === null) throw new Error(`a mark without its form at ${next}: ${text.slice(next, next + 80)}`);
    const from = OPEN.lastIndex;
    // The words of a mark may be empty: then its two line breaks are one after the other.
    const to = text.indexOf(CLOSE, from);
    if (to === -1) throw new Error(`a mark without an end: ${open[0]}`);
    segments.push({ by: open[1] ?? '', words: text.slice(from, to) });
    at = to + CLOSE.length;
  }
  for (const { by, words } of segments) {
    if (/<\/?said/.test(words)) throw new Error(`a mark in the words of ${by}: ${words}`);
  }
  return segments;
}

type Rendering = (text: string) => string;

const ENTITY: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', sol: '/', shy: '', zwnj: '' };

const entities: Rendering = (text) =>
  text
    .replace(/&(amp|lt|gt|quot|sol|shy|zwnj);?/gi, (_, name: string) => ENTITY[name.toLowerCase()] ?? '')
    .replace(/&#x([0-9a-f]{1,6});?/gi, (all, hex: string) => charOf(Number.parseInt(hex, 16), all))
    .replace(/&#([0-9]{1,7});?/g, (all, digits: string) => charOf(Number(digits), all));

const percents: Rendering = (text) =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const escapes: Rendering = (text) =>
  text
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const unseen: Rendering = (text) => text.replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}]/gu, '');
const compatible: Rendering = (text) => text.normalize('NFKC');
const unaccented: Rendering = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '');
const markdown: Rendering = (text) => text.replace(/[*_~`\\]/g, '');
const tagged: Rendering = (text) =>
  text.replace(/[\u{e0020}-\u{e007e}]/gu, (tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000));

const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/[‹❮〈⟨《«❰❬≪≺⋖ᐸ˂ᚲ]/gu, '<'],
  [/[⁄∕⧸╱]/gu, '/'],
  [/[ѕЅꜱ]/gu, 's'],
  [/[аɑαА]/gu, 'a'],
  [/[іıɩΙІ]/gu, 'i'],
  [/[ԁɗᏧ]/gu, 'd'],
];

const alike: Rendering = (text) => ALIKE.reduce((read, [from, to]) => read.replace(from, to), text);

function charOf(code: number, otherwise: string): string {
  return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : otherwise;
}

const STEPS: Readonly<Record<string, Rendering>> = {
  entities,
  percents,
  escapes,
  unseen,
  compatible,
  unaccented,
  markdown,
  tagged,
  alike,
};

/** Each rendering alone, and all of them again and again. */
const RENDERINGS: Readonly<Record<string, Rendering>> = {
  ...STEPS,
  all: (text) => {
    let read = text;
    for (let i = 0; i < 4; i++) for (const step of [tagged, unseen, entities, percents, escapes]) read = step(read);
    for (const step of [compatible, unaccented, alike, markdown]) read = step(read);
    return read;
  },
};

const LOOKS_LIKE_A_MARK = /<[\s/]*said/gi;

/** @throws Error when a rendering shows more marks than the text has */
export function requireSameMarks(text: string): void {
  const marks = (text.match(/<\/?said/g) ?? []).length;
  for (const [name, render] of Object.entries(RENDERINGS)) {
    const seen = render(text).match(LOOKS_LIKE_A_MARK)?.length ?? 0;
    if (seen !== marks) throw new Error(`${seen} marks instead of ${marks}, rendered by ${name}: ${text}`);
  }
}
