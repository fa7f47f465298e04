/**
 * Which images and documents each wire format carries, and how large they may be: declared once, and kept by the prompt
 * assembly for every format. What a format does not carry is named in words.
 *
 * The numbers are those that the providers publish, and that have been stable: a refusal would meet every later request of
 * the conversation.
 */

/** The media types that both OpenAI's and Anthropic's own protocols accept. */
export const IMAGES_AND_PDF: readonly string[] = Object.freeze([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
]);

/** Media of any type: the code behind the format decides. */
export const ANY_MEDIA = 'any';

/** Bounds on the images and documents of one request. */
export interface MediaBounds {
  /** Bytes of one image, before base64. */
  readonly imageBytesMax: number;
  /** Bytes of one document, before base64. */
  readonly documentBytesMax: number;
  /** The most images that one request may have. */
  readonly imagesMax: number;
  /** Pixels of the longer side of an image. */
  readonly pixelsMax: number;
  /** Another bound on the longer side, once a request has more than so many images. */
  readonly many: { readonly images: number; readonly pixelsMax: number };
  /** Whether an animated GIF is accepted. */
  readonly animatedGif: boolean;
}

/** What a format carries. A profile narrows it to what its model reads. */
export interface Sendable {
  /** Media types in messages of the user. */
  readonly user: readonly string[] | typeof ANY_MEDIA;
  /** Media types in results of tools. */
  readonly result: readonly string[] | typeof ANY_MEDIA;
  readonly bounds: MediaBounds;
}

/** Where a part stands in a request. */
export type MediaPlace = 'user' | 'result';

/** Bytes of one image: the bound of most providers. */
const IMAGE_BYTES_MAX = 5_000_000;

/** Bytes of one image at Anthropic, whose 5 MiB count base64. */
const ANTHROPIC_IMAGE_BYTES_MAX = 3_932_160;

/** Bytes of one document: requests are bounded at 32 MB, and base64 makes it a third larger. */
const DOCUMENT_BYTES_MAX = 20_000_000;

/** Bounds where no provider is known: those of the strictest one on bytes. */
const WIDE: MediaBounds = {
  imageBytesMax: IMAGE_BYTES_MAX,
  documentBytesMax: DOCUMENT_BYTES_MAX,
  imagesMax: 500,
  pixelsMax: Number.POSITIVE_INFINITY,
  many: { images: Number.POSITIVE_INFINITY, pixelsMax: Number.POSITIVE_INFINITY },
  animatedGif: true,
};

/** OpenAI: PNG, JPEG, WebP and GIF without animation; 500 images a request. */
const OPENAI: MediaBounds = { ...WIDE, animatedGif: false };

/**
 * Anthropic: 5 MiB of base64 an image, 100 images a request, at most 8,000 pixels a side, and 2,000 with more than 20 images.
 */
const ANTHROPIC: MediaBounds = {
  ...WIDE,
  imageBytesMax: ANTHROPIC_IMAGE_BYTES_MAX,
  imagesMax: 100,
  pixelsMax: 8_000,
  many: { images: 20, pixelsMax: 2_000 },
};

/** What the formats carry, by their names. */
export const SENDABLE = Object.freeze({
  'openai-chat': { user: IMAGES_AND_PDF, result: [], bounds: OPENAI },
  'openai-responses': { user: IMAGES_AND_PDF, result: IMAGES_AND_PDF, bounds: OPENAI },
  'anthropic-messages': { user: IMAGES_AND_PDF, result: IMAGES_AND_PDF, bounds: ANTHROPIC },
  'ai-sdk': { user: ANY_MEDIA, result: ANY_MEDIA, bounds: WIDE },
}) satisfies Readonly<Record<string, Sendable>>;

/**
 * What a model of the AI SDK carries: its bounds are those of the provider behind it, where that is known. Models of chat
 * completions get the results of tools as text.
 */
export function aiSdkSendable(provider: string): Sendable {
  const row = SENDABLE['ai-sdk'];
  const bounds = provider.startsWith('anthropic') ? ANTHROPIC : provider.startsWith('openai.') ? OPENAI : row.bounds;
  return provider.endsWith('.chat') ? { ...row, result: [], bounds } : { ...row, bounds };
}

/** What a client of another format carries: all that its profile names. */
export const ANY_SENDABLE: Sendable = SENDABLE['ai-sdk'];

/** Whether a format carries a media type at a place. */
export function carries(sendable: Sendable, place: MediaPlace, mediaType: string): boolean {
  const types = sendable[place];
  return types === ANY_MEDIA || types.includes(mediaType);
}
