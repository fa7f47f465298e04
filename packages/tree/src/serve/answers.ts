/** Answers of an owner, as programs read them. */
import { type OwnerAnswered, readLlmOutput, readText } from '@reprise/agent';
import { isRepriseError, type Ref, startOfUtf8, type Value } from '@reprise/contracts';
import { type ContentReader, getValue } from '@reprise/kernel';
import { BRIDGE_REF_BYTES_MAX } from './limits.js';
import type { Told } from './refusal.js';

/** An answer: its value as JSON, and the beginning of each linked content. */
export async function toldOf({ value, refs, isError }: OwnerAnswered, content: ContentReader): Promise<Told> {
  const linked = refs.map(async ({ label, ref }) => `${label}:\n${beginning(await wordsOf(ref, content))}`);
  return { texts: [typeof value === 'string' ? value : jsonOf(value), ...(await Promise.all(linked))], isError };
}

function beginning(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= BRIDGE_REF_BYTES_MAX) return text;
  const start = new TextDecoder().decode(startOfUtf8(bytes, BRIDGE_REF_BYTES_MAX));
  return `${start}\n[the first ${BRIDGE_REF_BYTES_MAX} of ${bytes.length} bytes]`;
}

async function wordsOf(ref: Ref, content: ContentReader): Promise<string> {
  try {
    if (ref.kind === 'raw') return await readText(content, ref);
    const output = await readLlmOutput(content, ref).catch(() => undefined);
    return output === undefined ? jsonOf(await getValue(content, ref)) : (output.text ?? '');
  } catch (error) {
    if (isRepriseError(error)) return `[the content cannot be read: ${error.code}]`;
    throw error;
  }
}

/** A value as JSON: a link as its text, bytes as base64. */
function jsonOf(value: Value): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    one instanceof Uint8Array ? Buffer.from(one).toString('base64') : one,
  );
}
