/** Where views get their frames and content from: a world that is open, or a store that is read. */
import { RepriseError } from '@reprise/contracts';
import type { ContentReader } from '../../ports/content/port.js';
import { readFrame } from '../../ports/journal/frame.js';
import type { Head } from '../../ports/journal/port.js';
import type { ReadonlyStore } from '../../ports/store/store.js';
import type { WorldFrame } from '../../run/world/read/reading.js';
import type { World } from '../../run/world/world.js';

/** Durable frames and the content that they link. */
export interface FrameSource {
  readonly content: ContentReader;
  head(): Promise<Head>;
  /** Frames from `from`; those of a world until it closes or the signal aborts, those of a store up to its head. */
  frames(from: number, signal: AbortSignal): AsyncIterable<WorldFrame>;
}

/** The frames of an open world, live. */
export function worldSource(world: Pick<World, 'head' | 'content' | 'frames'>): FrameSource {
  return {
    content: world.content,
    head: async () => world.head,
    frames: (from, signal) => world.frames(from, signal),
  };
}

/** The frames of a store. */
export function storeSource({ journal, content }: Pick<ReadonlyStore, 'journal' | 'content'>): FrameSource {
  return {
    content,
    head: () => journal.head(),
    frames: async function* (from) {
      for await (const { seq, at, head, bytes } of journal.read(from)) {
        yield { seq, at, head, records: readFrame(bytes, seq).all };
      }
    },
  };
}

/** The head after a frame; undefined beyond the journal's end. */
export async function headAfter(source: FrameSource, seq: number): Promise<Head | undefined> {
  if (seq < 0 || seq > (await source.head()).seq) return undefined;
  const leave = new AbortController();
  for await (const frame of source.frames(seq, leave.signal)) return { seq: frame.seq, digest: frame.head };
  throw new RepriseError('journal_damaged', 'a frame of the journal cannot be read', { where: `frame ${seq}` });
}
