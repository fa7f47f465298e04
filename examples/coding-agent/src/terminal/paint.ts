/** Colors, if the terminal supports them. */

/** Colors a text. */
export type Paint = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>;

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** Functions that color a text, or leave it as it is. */
export function paintFor(colours: boolean): Paint {
  const entries = Object.entries(CODES).map(([name, [on, off]]) => {
    const paint = (text: string): string => (colours && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text);
    return [name, paint] as const;
  });
  return Object.fromEntries(entries) as unknown as Paint;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors are made of these
const ESCAPES = /\u001b\[[0-9;]*m/g;
const CONTROLS = /[\p{Cc}\p{Cf}]/gu;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** The width of a text in columns. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text.replace(ESCAPES, ''))
    columns += WIDE.test(character) ? 2 : /\p{M}/u.test(character) ? 0 : 1;
  return columns;
}

/** Makes a text from outside safe to print: it cannot move the cursor, change colors or hide other text. */
export function plain(text: string): string {
  return text.replaceAll('\t', '  ').replace(CONTROLS, (control) => (control === '\n' ? control : '\ufffd'));
}

/** Cuts a text to a number of columns. */
export function fitting(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let cut = '';
  for (const character of text) {
    if (columnsOf(cut + character) > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

/** Breaks lines that are too long between words. A longer word stays whole. */
export function wrapped(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => (columnsOf(line) < columns ? line : wrappedLine(line, columns)))
    .join('\n');
}

function wrappedLine(line: string, columns: number): string {
  let broken = '';
  let row = '';
  for (const word of line.match(/\s*\S+|\s+$/g) ?? []) {
    if (row !== '' && columnsOf(row + word) >= columns) {
      broken += `${row}\n`;
      row = word.trimStart();
    } else row += word;
  }
  return broken + row;
}
