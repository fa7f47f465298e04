/** Reads the transcripts of sessions off their frames, item by item. */
import type { Value } from '@reprise/contracts';
import { decode } from '@reprise/kernel';
import type { LogLeaf } from '../../../kernel/src/pure/engine/leaf/leaves.js';
import type { TranscriptItem } from '../../src/contracts/index.js';
import type { Frame } from './bare-world.js';

/** The transcripts of a world. */
export class Transcripts {
  readonly #items = new Map<string, TranscriptItem[]>();

  /** The transcript of a session. */
  of(key: string): readonly TranscriptItem[] {
    return this.#items.get(key) ?? [];
  }

  /** Takes in a frame. @returns the sessions that wrote in it, and what they wrote */
  read({ changes, made }: Pick<Frame, 'changes' | 'made'>): [key: string, fresh: readonly TranscriptItem[]][] {
    return changes.flatMap(({ key: { path }, after }) => {
      if (path[0] !== 'log' || after === undefined) return [];
      const key = String(path.at(-1));
      return [[key, this.#grow(key, after as LogLeaf, made)] as [string, TranscriptItem[]]];
    });
  }

  /** What is new stands in the inline tail, and before it in a chunk that was unverified in this very frame. */
  #grow(key: string, { count, levels, tail }: LogLeaf, made: Frame['made']): TranscriptItem[] {
    const known = this.#items.get(key) ?? [];
    const unverified = (levels[0] ?? []).flatMap(({ hex }) => {
      const chunk = made.get(hex);
      return chunk === undefined ? [] : (decode(chunk) as unknown as readonly Value[]);
    });
    const end = [...unverified, ...tail] as unknown as TranscriptItem[];
    const fresh = end.slice(end.length - (count - known.length));
    this.#items.set(key, [...known, ...fresh]);
    return fresh;
  }
}
