import type { Value } from '@reprise/contracts';

/**
 * The JSON value that a text is, or that the only fenced block in it holds: models like to wrap what they were asked for.
 *
 * @returns undefined when there is none
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
