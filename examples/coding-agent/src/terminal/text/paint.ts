/** Colors, if the terminal supports them. */

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  inverse: [7, 27],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const;

/** A style of text. */
export type Style = keyof typeof CODES;

/** Colors a text. */
export type Paint = Readonly<Record<Style, (text: string) => string>>;

/** Functions that color a text, or leave it as it is. */
export function paintFor(colors: boolean): Paint {
  const entries = Object.entries(CODES).map(([name, [on, off]]) => {
    const paint = (text: string): string => (colors && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text);
    return [name, paint] as const;
  });
  return Object.fromEntries(entries) as unknown as Paint;
}

/** Whether an output takes colors: a terminal that is not dumb, unless `NO_COLOR` is set. */
export function takesColors(output: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return output.isTTY === true && !isDumb(env) && (env.NO_COLOR ?? '') === '';
}

/** Whether the terminal only takes lines. */
export function isDumb({ TERM = '' }: NodeJS.ProcessEnv): boolean {
  return TERM === 'dumb' || TERM === 'unknown';
}
