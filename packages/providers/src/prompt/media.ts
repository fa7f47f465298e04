/**
 * Images and documents of a transcript: shown as they are where the model takes them, in words where it does not.
 *
 * Invariants
 * M1  What is shown is decided in the order of the transcript, by what stands before it: a later part changes nothing.
 * M2  What a model could have been shown and is not is a loss, named once for its class; it stands in words instead.
 */
import type { Ref } from '@reprise/contracts';
import type { UnifiedMedia } from '../model/model.js';
import { MEDIA_BYTES_MAX, MEDIA_TOTAL_BYTES_MAX } from './bounds.js';
import type { TranscriptReader } from './reader.js';

/** Content that is pointed to, and what it is. */
export interface Pointed {
  readonly link: Ref;
  readonly mediaType: string;
  readonly name: string;
}

/** Shows the images and documents of one request. */
export class MediaRoom {
  private left = MEDIA_TOTAL_BYTES_MAX;

  /** @param types the media types that the model takes */
  constructor(
    private readonly reader: TranscriptReader,
    private readonly types: readonly string[],
  ) {}

  /** What a model is shown of it; undefined where it is told in words. */
  async show({ link, mediaType, name }: Pointed): Promise<UnifiedMedia | undefined> {
    const kind = mediaKind(mediaType);
    if (kind === undefined) return undefined;
    const bytes = this.types.includes(mediaType) ? await this.read(link) : undefined;
    if (bytes === undefined) {
      this.reader.losses.add(kind); // M2
      return undefined;
    }
    this.left -= bytes.length;
    return { kind: 'media', mediaType, bytes, name };
  }

  private async read(link: Ref): Promise<Uint8Array | undefined> {
    const read = await this.reader.bytes(link);
    if ('gone' in read) return undefined;
    const { length } = read.found;
    return length === 0 || length > Math.min(MEDIA_BYTES_MAX, this.left) ? undefined : read.found;
  }
}

/** What kind of thing a model would look at or listen to; undefined for what none takes. */
export function mediaKind(mediaType: string): 'image' | 'audio' | 'video' | 'document' | undefined {
  if (mediaType === 'application/pdf') return 'document';
  const [kind] = mediaType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : undefined;
}
