/**
 * Images and documents of a transcript: sent directly if the format carries them, the model can read them and their content
 * is whole, described in words otherwise. Whatever way a file took into the transcript, its bytes are judged here before they
 * are sent.
 *
 * Invariants
 * M1  Whether a part is shown depends only on the transcript before it: a later part changes nothing. A part that was taken
 *     out of the conversation is shown nowhere.
 * M2  A part that could have been shown and was not is a loss; its class is named once, and words stand in its place.
 * M3  What is shown has the type of its content, and content that no provider could open is not shown.
 */
import { contentType, SNIFF_BYTES } from '@reprise/agent/model';
import type { Ref } from '@reprise/contracts';
import type { UnifiedMedia } from '../model/model.js';
import { ANY_SENDABLE, carries, type MediaBounds, type MediaPlace, type Sendable } from '../model/sendable.js';
import { MEDIA_TOTAL_BYTES_MAX } from './bounds.js';
import { type Picture, readPicture } from './picture.js';
import type { TranscriptReader } from './reader.js';

/** A link to content, with its media type and name. */
interface Pointed {
  readonly link: Ref;
  readonly mediaType: string;
  /** What was declared, when the content has another type. */
  readonly declared?: string | undefined;
  readonly name: string;
  /** The content stands behind a salt. */
  readonly salted?: boolean | undefined;
}

/** A part that is not shown; `why` ends a sentence about it, where the reason is in the part and not in the model. */
export interface Unshown {
  readonly kind: 'unshown';
  readonly why?: string;
}

/** Which media one request shows to its model. */
interface RoomOptions {
  /** The media types that the model can read. */
  readonly types: readonly string[];
  /** What the format carries. Default: every type that the model can read. */
  readonly sendable?: Sendable | undefined;
  /** Content that was taken out of the conversation, by digest. */
  readonly dropped?: readonly string[] | undefined;
}

const UNSHOWN: Unshown = { kind: 'unshown' };

/** Decides which images and documents of one request are shown. */
export class MediaRoom {
  /** How often it depended on the room that is left whether a part is shown. */
  decisions = 0;
  readonly #types: readonly string[];
  readonly #sendable: Sendable;
  readonly #dropped: readonly string[];
  #left = MEDIA_TOTAL_BYTES_MAX;
  #images = 0;
  #hasLarge = false;

  constructor({ types, sendable = ANY_SENDABLE, dropped = [] }: RoomOptions) {
    this.#types = types;
    this.#sendable = sendable;
    this.#dropped = dropped;
  }

  /** Whether content was taken out of the conversation. */
  isDropped(link: Ref): boolean {
    return this.#dropped.includes(link.hex);
  }

  /** Returns the media to show, or why words replace it. */
  async show(pointed: Pointed, place: MediaPlace, reader: TranscriptReader): Promise<UnifiedMedia | Unshown> {
    const { link, mediaType, declared, name } = pointed;
    if (this.isDropped(link)) return unshown('it was taken out of this conversation');
    const kind = mediaKind(mediaType) ?? (declared === undefined ? undefined : mediaKind(declared));
    if (kind === undefined) return UNSHOWN;
    const seen = this.#couldShow(mediaType, place) ? await this.#read(pointed, place, reader) : UNSHOWN;
    if (seen.kind === 'unshown') {
      reader.losses.add(kind); // M2
      return seen;
    }
    if (seen.mediaType !== mediaType || declared !== undefined) reader.losses.add('media_type');
    return { ...seen, name, content: link.hex };
  }

  /** Whether some content under this type could be shown: another image type may be what the bytes are. */
  #couldShow(mediaType: string, place: MediaPlace): boolean {
    return this.#shows(mediaType, place) || (mediaKind(mediaType) === 'image' && this.#types.length > 0);
  }

  #shows(mediaType: string, place: MediaPlace): boolean {
    return this.#types.includes(mediaType) && carries(this.#sendable, place, mediaType);
  }

  async #read(
    { link, mediaType: stated, salted }: Pointed,
    place: MediaPlace,
    reader: TranscriptReader,
  ): Promise<Pick<UnifiedMedia, 'kind' | 'mediaType' | 'bytes'> | Unshown> {
    this.decisions++;
    const read = await (salted === true ? reader.saltedBytes(link) : reader.bytes(link));
    if ('gone' in read) return UNSHOWN;
    const { found: bytes } = read;
    const { mediaType } = contentType(bytes.subarray(0, SNIFF_BYTES), stated); // M3
    const picture = readPicture(mediaType, bytes);
    if (picture !== undefined && 'why' in picture) return unshown(picture.why);
    if (!this.#shows(mediaType, place)) return mediaType === stated ? UNSHOWN : unshown(`its content is ${mediaType}`);
    const why = this.#outOfBounds(mediaType, bytes, picture);
    if (why !== undefined) return unshown(why);
    this.#take(bytes, mediaType, picture);
    return { kind: 'media', mediaType, bytes };
  }

  /** Why content exceeds the bounds of the format, or the room that is left. */
  #outOfBounds(mediaType: string, bytes: Uint8Array, picture: Picture | undefined): string | undefined {
    const { bounds } = this.#sendable;
    const isImage = mediaKind(mediaType) === 'image';
    if (bytes.length > (isImage ? bounds.imageBytesMax : bounds.documentBytesMax)) return 'it is too large';
    if (bytes.length > this.#left) return 'no room is left in the request';
    if (!isImage) return undefined;
    if (this.#images >= bounds.imagesMax) return 'the request has too many images';
    return picture === undefined ? undefined : this.#badPicture(mediaType, picture, bounds);
  }

  #badPicture(mediaType: string, { width, height, animated }: Picture, bounds: MediaBounds): string | undefined {
    const side = Math.max(width, height);
    if (side > bounds.pixelsMax) return `it is larger than ${bounds.pixelsMax} pixels`;
    if (animated && mediaType === 'image/gif' && !bounds.animatedGif) return 'it is animated';
    const { images, pixelsMax } = bounds.many;
    if (this.#images < images) return undefined;
    return this.#hasLarge || side > pixelsMax ? 'the request has too many images for its size' : undefined;
  }

  #take(bytes: Uint8Array, mediaType: string, picture: Picture | undefined): void {
    this.#left -= bytes.length;
    if (mediaKind(mediaType) !== 'image') return;
    this.#images += 1;
    const side = picture === undefined ? 0 : Math.max(picture.width, picture.height);
    this.#hasLarge ||= side > this.#sendable.bounds.many.pixelsMax;
  }
}

function unshown(why: string): Unshown {
  return { kind: 'unshown', why };
}

/** The kind of media a model could see or hear; undefined for other types. */
function mediaKind(mediaType: string): 'image' | 'audio' | 'video' | 'document' | undefined {
  if (mediaType === 'application/pdf') return 'document';
  const [kind] = mediaType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : undefined;
}
