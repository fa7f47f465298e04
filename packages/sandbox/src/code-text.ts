/** Pure code as bytes: the recorded form, and the checks before any of it runs. */
import { CODE_BYTES_MAX, codeFailed } from '@reprise/kernel';

/** The first line of pure code: its kind, and the number of its form. */
export const CODE_MARK = '// reprise pure code 1';

/**
 * `import(…)` and `import.meta` call the host, which answers with objects of its own realm: a way out. The keyword
 * cannot be spelled in another way, so a search for it is enough; the search includes everything that may stand behind
 * it: white space, and the beginnings of every kind of comment, the HTML-like ones among them. The process ends, too,
 * should code import (`child/main.ts`).
 */
const ASKS_HOST = /(?<![\p{ID_Continue}$\u200c\u200d])import\s*(?:[(.]|\/[/*]|<!--|-->)/u;

/**
 * The text of pure code.
 *
 * @throws RepriseError `code_failed` when these bytes are not pure code, or import modules of the host
 */
export function readCode(code: Uint8Array): string {
  if (code.length > CODE_BYTES_MAX)
    throw codeFailed('this pure code is too large', { expected: CODE_BYTES_MAX, actual: code.length });
  const text = textOf(code);
  if (!text.startsWith(`${CODE_MARK}\n`)) {
    throw codeFailed('the bytes are not pure code of a known form', {
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
    throw codeFailed('the bytes of this pure code are not text', { cause });
  }
}
