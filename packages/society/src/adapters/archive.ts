/** Executes `society.archive@1`: puts what an agent was about into words, in the form of a session summary. */

import type { PartHost } from '@reprise/agent';
import type { Ref, Value } from '@reprise/contracts';
import { parseOwnJson } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { type AnyAdapter, adapterOf, type ContentReader, putErasable } from '@reprise/kernel';
import { readItemText } from '@reprise/org';
import { type archivedAgent, societyArchive } from '../pure/index.js';

type ArchivedAgent = z.infer<typeof archivedAgent>;

const encoder = new TextEncoder();

/** The characters of one highlight or decision, and how many of each an archive has: with all of them it is one item. */
const ENTRY_LENGTH = 400;
const ENTRIES_MAX = 16;

/** The characters of the goal and of what the agent was doing. */
const FIELD_LENGTH = 1_500;

/** The adapter of `society.archive@1`. The texts are copies: they outlive the hot context, and are erased as an item is. */
export function archiveAdapter({ content }: Pick<PartHost, 'content'>): AnyAdapter {
  return adapterOf(societyArchive, {
    name: 'society.archive',
    async doExecute(agent) {
      const put = (text: string) => putErasable(content, encoder.encode(text));
      const content_ref = await put(JSON.stringify(await summaryOf(agent, content)));
      return { status: 'ok', payload: { content_ref, summary_ref: await put(lineOf(agent)) } };
    },
  });
}

/** What a search shows of an archive: no words of the agent, so that its words are erased with its content. */
function lineOf({ agent_id, display_name, session_count }: ArchivedAgent): string {
  return `Agent ${display_name} final state: ${agent_id}, ${session_count} sessions.`;
}

async function summaryOf(agent: ArchivedAgent, content: ContentReader): Promise<object> {
  const field = async (ref: Ref | null): Promise<Value> =>
    ref === null ? null : (parseOwnJson((await readItemText(content, ref)) ?? 'null') as Value);
  const [active, goal, findings, working_memory] = await Promise.all(
    [agent.active, agent.goal, agent.findings, agent.working_memory].map(field),
  );
  const { key, agent_id, parent_entity_id, display_name, agent_type, session_count, chain_hash } = agent;
  return {
    type: 'session',
    id: key,
    focus: `Agent ${display_name} final state`,
    ...(goal === null || goal === undefined ? {} : { goal: shortened(textOf(goal), FIELD_LENGTH) }),
    ...(active === null || active === undefined ? {} : { active: shortened(textOf(active), FIELD_LENGTH) }),
    highlights: entriesOf(findings ?? null),
    decisions: entriesOf(decisionsOf(working_memory ?? null)),
    entities_mentioned: [agent_id, parent_entity_id],
    agent: { agent_type, session_count, chain_hash },
  };
}

/** What an agent keeps as its decisions; without a list of that name, all that it keeps in its working memory. */
function decisionsOf(memory: Value): Value {
  if (typeof memory !== 'object' || memory === null || Array.isArray(memory)) return memory;
  const { decisions } = memory as { readonly decisions?: Value };
  return Array.isArray(decisions) ? decisions : memory;
}

function entriesOf(value: Value): readonly string[] {
  if (value === null) return [];
  const entries: readonly string[] = Array.isArray(value)
    ? value.map((one) => textOf(one as Value))
    : typeof value === 'object'
      ? Object.entries(value).map(([name, one]) => `${name}: ${textOf(one as Value)}`)
      : [textOf(value)];
  return entries.slice(0, ENTRIES_MAX).map((text) => shortened(text, ENTRY_LENGTH));
}

function textOf(value: Value): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shortened(text: string, length: number): string {
  const letters = [...text];
  return letters.length <= length ? text : `${letters.slice(0, length - 1).join('')}…`;
}
