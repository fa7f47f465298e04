/*
 * `node scripts/text-table.mjs`: writes `packages/kernel/src/pure/text/table.ts`, the characters that words are made of and
 * how they are folded, from the Unicode data of this Node. Run once: the table is pinned, since another one would give
 * the same text other words. A new table is a new number `TEXT_TABLE` (`table-number.ts`), and every text index is made again.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './lib/root.mjs';

const LAST = 0x10ffff;
/** The end of the alphabets whose letters carry accents as a habit: Latin, Greek, Cyrillic and their extensions. */
const ACCENTED_END = 0x2000;
const isWord = (text) => /^[\p{L}\p{N}\p{M}]$/u.test(text);
const isAlone = (text) =>
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u.test(
    text,
  );
const isAccent = (point) => point >= 0x300 && point <= 0x36f;

const points = [];
for (let point = 0; point <= LAST; point++) if (point < 0xd800 || point > 0xdfff) points.push(point);
const chars = points.map((point) => String.fromCodePoint(point));

const word = ranges((i) => isWord(chars[i]) && !isAccent(points[i]));
const alone = ranges((i) => isWord(chars[i]) && isAlone(chars[i]));
const folds = runs(
  points.map((point, i) => [point, isWord(chars[i]) ? folded(chars[i]) : point]).filter(([a, b]) => a !== b),
);

await writeFile(
  path.join(ROOT, 'packages/kernel/src/pure/text/table.ts'),
  `/**
 * Which characters words are made of, and how they are folded. Made by \`scripts/text-table.mjs\` from Unicode
 * ${process.versions.unicode}, and pinned: engines follow newer releases, and the same text must give the same words for ever.
 *
 * Numbers are in base 36, each the distance from the one before.
 */

/** Letters, digits and the marks that belong to them: pairs of gap and length. */
export const WORD_RANGES: string =
${wrapped(word)};

/** Characters of scripts that put no spaces between words: each is a word by itself. Pairs of gap and length. */
export const ALONE_RANGES: string =
${wrapped(alone)};

/**
 * Lower case and base letters: runs of gap, count, step and the distance to what stands for the character.
 */
export const FOLD_RUNS: string =
${wrapped(folds)};
`,
);

/** The replacement of a character: its lower case, without accents in the alphabets that have them. */
function folded(char) {
  const lower = [...char.toLowerCase()];
  const [base, ...rest] = [...lower.join('').normalize('NFD')];
  if (base === 'ς') return 'σ'.codePointAt(0);
  const accented = char.codePointAt(0) < ACCENTED_END && rest.every((mark) => isAccent(mark.codePointAt(0)));
  if (accented) return base.codePointAt(0);
  if (lower.length !== 1 || lower[0] === char) return char.codePointAt(0);
  return folded(lower[0]); // the Ångström sign is an å, and that an a
}

function ranges(holds) {
  const numbers = [];
  let end = 0;
  for (let i = 0; i < points.length; i++) {
    if (!holds(i)) continue;
    const start = i;
    while (i + 1 < points.length && holds(i + 1) && points[i + 1] === points[i] + 1) i++;
    numbers.push(points[start] - end, points[i] - points[start] + 1);
    end = points[i] + 1;
  }
  return numbers;
}

function runs(pairs) {
  const numbers = [];
  let end = 0;
  for (let i = 0; i < pairs.length; ) {
    const [from, to] = pairs[i];
    const step = Math.min((pairs[i + 1]?.[0] ?? from + 1) - from, 2);
    let count = 1;
    while (pairs[i + count]?.[0] === from + count * step && pairs[i + count][1] - pairs[i + count][0] === to - from)
      count++;
    numbers.push(from - end, count, step, to - from);
    end = from + (count - 1) * step + 1;
    i += count;
  }
  return numbers;
}

function wrapped(numbers) {
  const text = numbers.map((n) => n.toString(36)).join(' ');
  const lines = text.match(/.{1,110}(?: |$)/g) ?? [];
  return lines.map((line) => `  '${line}'`).join(' +\n');
}
