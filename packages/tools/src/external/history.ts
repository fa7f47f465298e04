/** Adds the earlier conversation to a prompt, for a program that does not know it. */
import type { ToolContext } from '@reprise/agent';

/** The most items of a transcript that are included; the latest ones are kept. */
const ITEMS_MAX = 200;

interface Item {
  readonly role: string;
  readonly text?: string;
  readonly calls?: readonly unknown[];
}

/** The prompt with the earlier conversation before it; the text alone when there is no earlier conversation. */
export async function asPrompt(text: string, { world, session }: ToolContext): Promise<string> {
  const items = (await world.transcript(session.key, { from: 0, limit: 10_000 })) as unknown as readonly Item[];
  const lastAnswer = items.findLastIndex(({ role, calls = [] }) => role === 'assistant' && calls.length === 0);
  const before = items
    .slice(0, lastAnswer + 1)
    .slice(-ITEMS_MAX)
    .flatMap(lineOf);
  if (before.length === 0) return text;
  return `The conversation so far:\n\n${before.join('\n\n')}\n\nThe new message:\n\n${text}`;
}

function lineOf({ role, text = '', calls = [] }: Item): string[] {
  if (text === '' || calls.length > 0) return [];
  if (role === 'user') return [`User: ${text}`];
  return role === 'assistant' ? [`You: ${text}`] : [];
}
