/**
 * Reads the structure of images and documents: enough to know that a provider can open them.
 *
 * Invariants
 * Q1  Total and linear: any bytes give a picture or a reason, and each byte is looked at once.
 * Q2  A picture is whole: its size is stated, and its end is there. What stands behind the end does not matter.
 */

/** What an image says of itself. */
export interface Picture {
  /** The width in pixels, as the file states it. */
  readonly width: number;
  readonly height: number;
  /** Whether it has several frames. */
  readonly animated: boolean;
}

/** Why content cannot be opened, as the end of a sentence about the file. */
interface Unusable {
  readonly why: string;
}

const CUT: Unusable = { why: 'its content breaks off' };
const EMPTY: Unusable = { why: 'it is empty' };
const NO_PICTURE: Unusable = { why: 'its content holds no picture' };

/** Why content of a type that can be sent is unusable; its picture, or undefined for content without pixels, otherwise. */
export function readPicture(mediaType: string, bytes: Uint8Array): Picture | Unusable | undefined {
  if (bytes.length === 0) return EMPTY;
  const at = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = Object.hasOwn(READERS, mediaType) ? READERS[mediaType] : undefined;
  if (read === undefined) return undefined;
  const found = read(at);
  return 'why' in found || (found.width > 0 && found.height > 0) ? found : NO_PICTURE;
}

type Reader = (bytes: DataView) => Picture | Unusable;

const READERS: Readonly<Record<string, Reader>> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/gif': readGif,
  'image/webp': readWebp,
};

/** Chunks: a length, a name, the data, a checksum. The first is the header, and the last is empty. */
function readPng(bytes: DataView): Picture | Unusable {
  if (bytes.byteLength < 33 || nameAt(bytes, 12) !== 'IHDR') return CUT;
  let animated = false;
  let hasData = false;
  for (let at = 8; at + 12 <= bytes.byteLength; at += 12 + bytes.getUint32(at)) {
    const name = nameAt(bytes, at + 4);
    animated ||= name === 'acTL';
    hasData ||= name === 'IDAT';
    if (name === 'IEND')
      return hasData ? { width: bytes.getUint32(16), height: bytes.getUint32(20), animated } : NO_PICTURE;
  }
  return CUT;
}

/** Segments up to the scan, whose data ends with a marker of its own. */
function readJpeg(bytes: DataView): Picture | Unusable {
  let size: Pick<Picture, 'width' | 'height'> | undefined;
  for (let at = 2; at + 4 <= bytes.byteLength; ) {
    if (bytes.getUint8(at) !== 0xff) return NO_PICTURE;
    const marker = bytes.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1; // a byte that fills
      continue;
    }
    if (marker === 0xda)
      return size === undefined ? NO_PICTURE : endsAsJpeg(bytes, at) ? { ...size, animated: false } : CUT;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame && at + 9 <= bytes.byteLength)
      size = { height: bytes.getUint16(at + 5), width: bytes.getUint16(at + 7) };
    at += 2 + Math.max(2, bytes.getUint16(at + 2));
  }
  return CUT;
}

function endsAsJpeg(bytes: DataView, from: number): boolean {
  for (let at = bytes.byteLength - 2; at > from; at--)
    if (bytes.getUint8(at) === 0xff && bytes.getUint8(at + 1) === 0xd9) return true;
  return false;
}

const GIF_IMAGE = 0x2c;
const GIF_EXTENSION = 0x21;
const GIF_END = 0x3b;

/** Blocks behind the header and its colors; each image and extension is a list of sub-blocks. */
function readGif(bytes: DataView): Picture | Unusable {
  const end = bytes.byteLength;
  if (end < 13) return CUT;
  const size = { width: bytes.getUint16(6, true), height: bytes.getUint16(8, true) };
  let frames = 0;
  for (let at = 13 + colorBytes(bytes.getUint8(10)); at < end; ) {
    const kind = bytes.getUint8(at);
    if (kind === GIF_END) return frames === 0 ? NO_PICTURE : { ...size, animated: frames > 1 };
    if (kind === GIF_IMAGE && at + 10 < end) {
      frames += 1;
      at += 11 + colorBytes(bytes.getUint8(at + 9));
    } else if (kind === GIF_EXTENSION) at += 2;
    else return CUT;
    while (at < end && bytes.getUint8(at) !== 0) at += 1 + bytes.getUint8(at);
    at += 1;
  }
  return CUT;
}

/** The bytes of a table of colors, by the flags that announce it. */
function colorBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** A container of chunks; the first one says in which of three ways the picture is stored. */
function readWebp(bytes: DataView): Picture | Unusable {
  if (bytes.byteLength < 30 || bytes.getUint32(4, true) + 8 > bytes.byteLength + 1) return CUT;
  switch (nameAt(bytes, 12)) {
    case 'VP8 ':
      return { width: bytes.getUint16(26, true) & 0x3fff, height: bytes.getUint16(28, true) & 0x3fff, animated: false };
    case 'VP8L': {
      const sizes = bytes.getUint32(21, true);
      return { width: (sizes & 0x3fff) + 1, height: ((sizes >>> 14) & 0x3fff) + 1, animated: false };
    }
    case 'VP8X': {
      const [width, height] = [24, 27].map((at) => bytes.getUint16(at, true) + bytes.getUint8(at + 2) * 65_536 + 1);
      return { width: width ?? 0, height: height ?? 0, animated: (bytes.getUint8(20) & 2) !== 0 };
    }
    default:
      return NO_PICTURE;
  }
}

function nameAt(bytes: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((i) => bytes.getUint8(at + i)));
}
