/** The agent behind the page, which books tables, and the rules that stand in for its model. */
import { defineAgent, defineTool } from 'reprise';
import { type ModelClient, type ScriptRequest, type ScriptStep, scriptBy, typewriter } from 'reprise/providers';
import * as z from 'zod';

const party = { people: z.int().min(1).max(20), time: z.string().max(16) };

const tables = defineTool({
  name: 'tables',
  description: 'Finds a free table.',
  args: z.strictObject(party),
  guarantee: 'idempotent',
  run: ({ people }) => (people > 4 ? 'Table 7 is free, with ten seats.' : 'Table 2 is free, with four seats.'),
});

const book = defineTool({
  name: 'book',
  description: 'Books a table. The guest has to agree.',
  args: z.strictObject({ ...party, table: z.int() }),
  approval: 'always',
  run: ({ people, time, table }) => `Table ${table} at ${time} for ${people}.`,
});

/** The agent. */
export const waiter = defineAgent({
  name: 'waiter',
  model: 'main',
  instructions: 'You book tables. Look for a free one first; the guest agrees before it is booked. Be brief.',
  tools: [tables, book],
});

const INTRODUCTION =
  'I book tables: say for how many and when, such as "A table for 4 at 20:00". I can also show you the menu, or tell you a story.';
const MENU = `## Today

| Dish | For | Price |
|:-----|:---:|------:|
| Soup of the day | 1 | 6.50 |
| **Bread** with salt and oil | 2 | 4.00 |
| Fish, as it came in this morning | 1 | 21.00 |

1. We cook from *six* to **ten**.
2. Ask for:
   - no salt, or ~~no~~ pepper
   - half a portion

\`\`\`sh
# for those who book by program
curl localhost:4400/api/chat/ada

echo "a table for 4 at 20:00"
\`\`\`

> The kettle is not for sale.

More is at <https://example.org/menu>.`;
const STORY =
  'Once there was a kettle that remembered everything it had ever boiled. It kept a list, line by line, and any doubter could boil it all again and come out with the same steam. One morning the kitchen burned down. The kettle was given a new handle, read its list, and went on in the middle of the word it had been whistling. The cook asked what it had been doing when the roof fell. "I do not know," said the kettle, "whether that tea was poured. Please look at the cup." And that was the most honest thing a kettle had ever said.';

/** A few rules in place of a model, which stream their answer with a pause between words. */
export function embeddedModel(wordMs: number): ModelClient {
  return typewriter(scriptBy(nextStep), wordMs);
}

/** The answer of the rules to a request. Pure. */
export function nextStep({ messages }: ScriptRequest): ScriptStep {
  const start = messages.findLastIndex(({ role }, i) => role === 'user' && messages[i - 1]?.role !== 'tool');
  const since = messages.slice(start);
  const wish = since.flatMap(({ role, text }) => (role === 'user' ? [text] : [])).join(' ');
  if (/\bstory\b/i.test(wish)) return { text: STORY };
  if (/\bmenu\b/i.test(wish)) return { text: MENU };
  if (!/\b(table|book|seat)/i.test(wish)) return { text: INTRODUCTION };
  return booking(wish, since);
}

function booking(wish: string, since: ScriptRequest['messages']): ScriptStep {
  const people = Number([...wish.matchAll(/\b(?:for|make it|to) (\d{1,2})\b(?!:)/gi)].at(-1)?.[1] ?? 2);
  const time = [...wish.matchAll(/\b\d{1,2}:\d\d\b/g)].at(-1)?.[0] ?? '19:00';
  const result = since.findLast(({ role }) => role === 'tool');
  const asked = since.findLast(({ calls }) => calls !== undefined)?.calls?.[0];
  const isForThese = (asked?.args as { readonly people?: number } | undefined)?.people === people;
  if (result === undefined || !isForThese) {
    return {
      reasoning: `They want to sit down: ${people} people, at ${time}. I look before I promise anything.`,
      text: `I look for a table for ${people} at ${time}.`,
      calls: [{ tool: 'tables', args: { people, time } }],
    };
  }
  if (asked?.tool === 'tables') {
    const table = Number(result.text.match(/\d+/)?.[0]);
    return {
      text: `Table ${table} is free. I book it if you agree.`,
      calls: [{ tool: 'book', args: { people, time, table } }],
    };
  }
  const refused = result.text.match(/about this call">\n(.*?)\.?$/m)?.[1];
  if (result.isError === true)
    return { text: `Then I leave it${refused === undefined ? '' : `: ${refused}`}. Another time?` };
  return { text: `It is booked. ${result.text} We look forward to you.` };
}
