/** Reads a world for its tools, as plain data for a model. */

import type { InputPart, Value } from '@reprise/contracts';
import { shortText } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { readLlmOutput, readText } from '../content/transcript.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { TranscriptItem } from '../contracts/transcript.js';
import { sessions } from '../timeline/sessions.js';
import type { WorldReader } from '../tools/tool/context.js';
import type { AgentWorld } from './world.js';

/**
 * The most characters of one text in a transcript that a tool reads: enough to recognize it, and the other items still
 * fit.
 */
const TEXT_UNITS_MAX = 2_000;

/** Reads a world for its tools, once it is open. */
export function worldReader(opened: Promise<AgentWorld>): WorldReader {
  return {
    sessions: async (page) => {
      const { items, next } = await (await opened).sessions(page);
      const shown = items.map(({ key, agent, status, closed, labels, runs, usage, updated }) => {
        return { session: key, agent, status, closed, labels, runs, usage, updated };
      });
      return { items: shown, ...(next === undefined ? {} : { next }) };
    },
    pending: async ({ limit }) => {
      const items = await (await opened).pending();
      return items.slice(0, limit).map(({ kind, session, title, tool, question, since, deadline }) => ({
        kind,
        ...(session === undefined ? {} : { session }),
        ...(title === undefined ? {} : { title }),
        since,
        deadline,
        ...(tool === undefined ? {} : { tool }),
        ...(question === undefined ? {} : { question: question.question }),
      }));
    },
    usage: async (session) => {
      const row = await (await (await opened).views()).view(sessions).get(session);
      return row === undefined ? null : { runs: row.runs, usage: row.usage };
    },
    transcript: async (session, { from, limit }) => {
      const { kernel } = await opened;
      const found: Value[] = [];
      for await (const item of kernel.log([SESSION_REDUCER, session], 'transcript', from)) {
        if (found.length === limit) break;
        found.push(await shownItem(item as unknown as TranscriptItem, from + found.length, kernel.content));
      }
      return found;
    },
  };
}

async function shownItem(item: TranscriptItem, index: number, content: ContentReader): Promise<Value> {
  switch (item.role) {
    case 'user':
      return { index, role: item.role, origin: item.origin, text: await partsText(item.parts, content) };
    case 'assistant': {
      const { text = '' } = await readLlmOutput(content, item.output_ref);
      return {
        index,
        role: item.role,
        text: shown(text),
        calls: item.calls.map(({ call_id, tool }) => ({ call_id, tool })),
      };
    }
    case 'tool':
    case 'late': {
      const { role, call_id, tool, output_ref } = item;
      const text = output_ref === undefined ? {} : { text: shown(await readText(content, output_ref)) };
      return { index, role, call_id, tool, ...text };
    }
  }
}

async function partsText(parts: readonly InputPart[], content: ContentReader): Promise<string> {
  const texts = await Promise.all(
    parts.map((part) => (part.kind === 'text' ? readText(content, part.text_ref) : `[${part.kind}]`)),
  );
  return shown(texts.join('\n'));
}

function shown(text: string): string {
  return shortText(text, TEXT_UNITS_MAX + 1);
}
