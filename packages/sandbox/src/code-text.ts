/** Pure code as bytes: the form that is recorded, and what is refused before any of it runs. */
import { CODE_BYTES_MAX, codeFailed } from '@reprise/kernel';

/** The first line of pure code: what it is, and the number of the form that it has. */
export const CODE_MARK = '// reprise pure code 1';

/**
 * `import(…)` and `import.meta` ask the host, which answers with objects of its own realm: an open door. The keyword
 * cannot be spelled otherwise, so looking for it is enough; whatever could stand between it and what follows counts:
 * white space, and the beginnings of every kind of comment, the HTML-like ones among them. The process ends, too, should
 * code import (`child/main.ts`).
 */
const ASKS_HOST = /(?<![\p{ID_Continue}$\u200c\u200d])import\s*(?:[(.]|\/[/*]|<!--|-->)/u;

/**
 * The text of pure code.
 *
 * @throws RepriseError `code_failed` when these bytes are no pure code, or ask the host for modules
 */
export function readCode(code: Uint8Array): string {
  if (code.length > CODE_BYTES_MAX)
    throw codeFailed('this pure code is too large', { expected: CODE_BYTES_MAX, actual: code.length });
  const text = textOf(code);
  if (!text.startsWith(`${CODE_MARK}\n`)) {
    throw codeFailed('this is no pure code that this release knows', {
      expected: CODE_MARK,
      actual: text.slice(0, 40),
      hint: 'Make it with `reprise bundle MODULE`. A newer release may know more forms.',
    });
  }
  const found = ASKS_HOST.exec(text);
  if (found !== null) throw codeFailed('pure code may not import while it runs', { actual: found[0] });
  return text;
}

function textOf(code: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(code);
  } catch (cause) {
    throw codeFailed('these bytes are no text', { cause });
  }
}
