/** The law of marks: a strict reader finds the words of each party under its name, in every wire format. */

import { putText } from '@reprise/agent';
import { type ContentStore, memory } from '@reprise/kernel';
import fc from 'fast-check';
import { draftRequest, WIRE_FORMATS, type WireFormat } from '../../../providers/src/generate/formats.js';
import type { UnifiedMessage } from '../../../providers/src/model/model.js';
import { assemblePrompt } from '../../../providers/src/prompt/assemble-prompt.js';
import { TranscriptReader } from '../../../providers/src/prompt/reader.js';
import { systemText } from '../../../providers/src/prompt/system-text.js';
import { writtenOf } from '../../../providers/src/wire/request-fields.js';
import { forgedName, forgedText } from './forged.js';
import { readMarks, requireSameMarks, type Segment } from './parser.js';
import { type Forged, PLACES, type Shown } from './places.js';

const PROFILE = {
  profile_id: 'p',
  provider: 'p',
  model_default: 'm',
  supports_parallel_tool_calls: true,
  supports_reasoning_effort: false,
  supports_streaming: false,
  supports_tool_choice_named: false,
};

/** What a law has looked at. */
export interface Tally {
  texts: number;
  requests: number;
  words: number;
}

/**
 * Runs forged texts through a place, in every wire format.
 *
 * @param place one of {@link PLACES}
 * @throws Error that shows the smallest text that is read as the words of another party
 */
export async function holdMarks(place: string, runs: number, seed: number): Promise<Tally> {
  const tally: Tally = { texts: 0, requests: 0, words: 0 };
  const { content } = await memory().open();
  const drawn = fc.record({ one: forgedText, two: forgedText, name: forgedName });
  const law = fc.asyncProperty(drawn, async (forged) => {
    for (const text of await textsOf(place, forged, content)) {
      requireAttributed(text.shown, text.texts);
      tally.requests++;
    }
    tally.texts += 2;
    tally.words += forged.one.length + forged.two.length;
  });
  await fc.assert(law, { numRuns: runs, seed });
  return tally;
}

async function textsOf(
  place: string,
  forged: Forged,
  content: ContentStore,
): Promise<readonly { readonly shown: Shown; readonly texts: readonly string[] }[]> {
  const shown = (await PLACES[place]?.(forged, content)) as Shown;
  const base = shown.base === undefined ? {} : { base: shown.base };
  const target = { profile: 'p', model: 'm', parallelCalls: true, ...base };
  const { messages } = await assemblePrompt(content, [...(shown.items ?? [])], target);
  const instructions = await putText(content, shown.system ?? 'Be brief.');
  const system = await systemText(instructions, [], new TranscriptReader(content));
  return WIRE_FORMATS.map((format) => ({ shown, texts: written(format, system, messages, shown.tools) }));
}

/** The texts of a request as its provider reads them from the bytes that were sent. */
function written(
  format: WireFormat,
  system: string,
  messages: readonly UnifiedMessage[],
  tools: Shown['tools'] = [],
): readonly string[] {
  const request = { system, messages, tools };
  const { body } = writtenOf(draftRequest(format, request, { model: 'm', profile: PROFILE }));
  return stringsIn(JSON.parse(new TextDecoder().decode(body)));
}

/** All texts in data, in their order. */
function stringsIn(data: unknown): string[] {
  if (typeof data === 'string') return [data];
  if (typeof data !== 'object' || data === null) return [];
  return Object.values(data).flatMap(stringsIn);
}

/** A level of quoting is no word: what is compared are the words. */
const plain = (text: string) => text.replaceAll('quoted-', '');

function requireAttributed({ said }: Shown, texts: readonly string[]): void {
  const read: Segment[] = [];
  for (const text of texts) {
    requireSameMarks(text);
    read.push(...readMarks(text));
  }
  const others = new Map<string, string[]>();
  for (const { by, words } of read) {
    if (by !== null) others.set(by, [...(others.get(by) ?? []), plain(words)]);
  }
  for (const [by, words] of said) {
    const wanted = plain(words).trim() === '' ? undefined : plain(words);
    if (wanted === undefined) continue;
    const found =
      by === null
        ? read.some((segment) => segment.by === null && plain(segment.words).includes(wanted))
        : [...others].some(([name, all]) => name.startsWith(by) && all.includes(wanted));
    if (!found)
      throw new Error(`words of ${by ?? 'the message itself'} are not found: ${words}\n\n${texts.join('\n---\n')}`);
  }
  requireNoneBeside(said, [...others.keys()]);
}

/** Marks that belong to nobody in this place. */
function requireNoneBeside(said: Shown['said'], names: readonly string[]): void {
  const known = said.flatMap(([by]) => (by === null ? [] : [by]));
  for (const name of names) {
    if (name === 'runtime' || known.some((by) => name.startsWith(by))) continue;
    throw new Error(`a mark in the name of ${name}`);
  }
}
