/**
 * The positions of an answer's opaque items among its text and its calls.
 *
 * A transcript stores an answer as one text, a list of calls and a list of opaque parts. A provider wants its own
 * items back at their old positions, so each part records how much of the text and how many calls came before it.
 *
 * Invariants
 * V1  The woven answer holds the whole text (except blank stretches), every call and every part, each once.
 * V2  Total: a position beyond the end is the end; a part without a position comes first.
 */
import type { OpaquePart } from '@reprise/agent';
import type { Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { type Json, toJson } from '../model/json.js';
import type { UnifiedAnswer, UnifiedCall } from '../model/model.js';

/** A position: characters of the text before it, and calls before it. */
interface Place {
  readonly text: number;
  readonly calls: number;
}

const placed = z.strictObject({
  at: z.strictObject({ text: z.int().min(0), calls: z.int().min(0) }),
  item: z.unknown(),
});

/** An item in its stored form: with its position, unless it came first. */
export function keptAt(item: Value, { text, calls }: Place): Value {
  return text === 0 && calls === 0 ? item : { at: { text, calls }, item };
}

/** A stretch of an answer. */
export type Stretch =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly call: UnifiedCall }
  | { readonly kind: 'item'; readonly item: Json; readonly part: OpaquePart };

/** Returns an answer's parts in their original order. */
export function weave({ text = '', calls, opaque = [] }: UnifiedAnswer): Stretch[] {
  const woven: Stretch[] = [];
  let said = 0;
  let called = 0;
  const upTo = (place: Place) => {
    const stretch = text.slice(said, place.text);
    if (stretch.trim() !== '') woven.push({ kind: 'text', text: stretch });
    said = Math.max(said, place.text);
    for (; called < Math.min(place.calls, calls.length); called++) {
      const call = calls[called];
      if (call !== undefined) woven.push({ kind: 'call', call });
    }
  };
  for (const part of opaque) {
    const native = toJson(part.native);
    const kept = placed.safeParse(native).data;
    if (kept !== undefined) upTo(kept.at);
    woven.push({ kind: 'item', item: kept === undefined ? native : (kept.item as Json), part });
  }
  upTo({ text: text.length, calls: calls.length });
  return woven;
}
