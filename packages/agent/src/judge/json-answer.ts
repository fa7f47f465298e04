import type { Value } from '@reprise/contracts';

/**
 * Reads the JSON value of a text, or of the only fenced block in it: models often wrap a requested value in prose.
 *
 * @returns undefined when the text has no such value
 * @example jsonIn('Here you are:\n```json\n{"a":1}\n```') // { value: { a: 1 } }
 */
export function jsonIn(text: string): { readonly value: Value } | undefined {
  const blocks = [...text.matchAll(/^[ \t]*```[a-z]*[ \t]*\r?\n([\s\S]*?)^[ \t]*```[ \t]*$/gm)];
  return parsed(text) ?? (blocks.length === 1 ? parsed(blocks[0]?.[1] ?? '') : undefined);
}

function parsed(text: string): { readonly value: Value } | undefined {
  try {
    return { value: JSON.parse(text) as Value };
  } catch {
    return undefined;
  }
}
