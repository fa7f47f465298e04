/**
 * Images and documents of a transcript: sent directly if the model can read them, described in words otherwise.
 *
 * Invariants
 * M1  Whether a part is shown depends only on the transcript before it: a later part changes nothing.
 * M2  A part that could have been shown and was not is a loss; its class is named once, and words stand in its place.
 */
import type { Ref } from '@reprise/contracts';
import type { UnifiedMedia } from '../model/model.js';
import { MEDIA_BYTES_MAX, MEDIA_TOTAL_BYTES_MAX } from './bounds.js';
import type { TranscriptReader } from './reader.js';

/** A link to content, with its media type and name. */
interface Pointed {
  readonly link: Ref;
  readonly mediaType: string;
  readonly name: string;
}

/** Decides which images and documents of one request are shown. */
export class MediaRoom {
  /** How often it depended on the room that is left whether a part is shown. */
  decisions = 0;
  private left = MEDIA_TOTAL_BYTES_MAX;

  /** @param types the media types that the model can read */
  constructor(private readonly types: readonly string[]) {}

  /** Returns the media to show; undefined when words replace it. */
  async show({ link, mediaType, name }: Pointed, reader: TranscriptReader): Promise<UnifiedMedia | undefined> {
    const kind = mediaKind(mediaType);
    if (kind === undefined) return undefined;
    const bytes = this.types.includes(mediaType) ? await this.read(link, reader) : undefined;
    if (bytes === undefined) {
      reader.losses.add(kind); // M2
      return undefined;
    }
    this.left -= bytes.length;
    return { kind: 'media', mediaType, bytes, name };
  }

  private async read(link: Ref, reader: TranscriptReader): Promise<Uint8Array | undefined> {
    this.decisions++;
    const read = await reader.bytes(link);
    if ('gone' in read) return undefined;
    const { length } = read.found;
    return length === 0 || length > Math.min(MEDIA_BYTES_MAX, this.left) ? undefined : read.found;
  }
}

/** The kind of media a model could see or hear; undefined for other types. */
function mediaKind(mediaType: string): 'image' | 'audio' | 'video' | 'document' | undefined {
  if (mediaType === 'application/pdf') return 'document';
  const [kind] = mediaType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : undefined;
}
