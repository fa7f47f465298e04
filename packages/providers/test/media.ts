/** Small images and documents that programs can open, and ones that none can. */

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const ascii = (text: string) => [...text].map((sign) => sign.charCodeAt(0));
const be = (number: number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255);
const le16 = (number: number) => [number & 255, number >> 8];

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function crc(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) c = (TABLE[(c ^ byte) & 255] ?? 0) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

function chunk(name: string, data: Uint8Array): Uint8Array {
  const named = joined(ascii(name), data);
  return joined(be(data.length), named, be(crc(named)));
}

function joined(...parts: readonly (readonly number[] | Uint8Array)[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The data of one black pixel row, compressed. */
const ROW = [0x78, 0x9c, 0x63, 0x60, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01];

/** A PNG; padded by a chunk that readers ignore when a size is given. */
export function pngOf({
  width = 1,
  height = 1,
  bytes,
}: {
  width?: number;
  height?: number;
  bytes?: number;
} = {}): Uint8Array {
  const whole = (padding: readonly Uint8Array[]) =>
    joined(
      PNG,
      chunk('IHDR', joined(be(width), be(height), [8, 0, 0, 0, 0])),
      ...padding,
      chunk('IDAT', Uint8Array.from(ROW)),
      chunk('IEND', new Uint8Array()),
    );
  const plain = whole([]);
  return bytes === undefined ? plain : whole([chunk('teXt', new Uint8Array(bytes - plain.length - 12))]);
}

/** A JPEG. */
export function jpegOf({ width = 1, height = 1 } = {}): Uint8Array {
  return joined(
    [0xff, 0xd8, 0xff, 0xe0, 0, 16, ...ascii('JFIF'), 0, 1, 1, 0, 0, 1, 0, 1, 0, 0],
    [0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0],
    [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x7f, 0xff, 0xd9],
  );
}

/** A GIF with so many frames. */
export function gifOf({ frames = 1 } = {}): Uint8Array {
  const frame = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0];
  return joined(
    [...ascii('GIF89a'), ...le16(1), ...le16(1), 0x80, 0, 0, 0, 0, 0, 255, 255, 255],
    ...Array.from({ length: frames }, () => frame),
    [0x3b],
  );
}

/** A WebP. */
export function webpOf(): Uint8Array {
  const data = [0x2f, 0, 0, 0, 0, 7, 0x10, 0x88, 0x88, 0xfe, 7, 0];
  const body = [...ascii('WEBPVP8L'), data.length, 0, 0, 0, ...data];
  return joined(ascii('RIFF'), [body.length, 0, 0, 0], body);
}

/** A PDF without a page. */
export function pdfOf(): Uint8Array {
  return joined(ascii('%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n'));
}

/** A text. */
export function textOf(words: string): Uint8Array {
  return new TextEncoder().encode(words);
}

/** Content whose type is certain, by its type. */
export const WHOLE: Readonly<Record<string, Uint8Array>> = {
  'image/png': pngOf(),
  'image/jpeg': jpegOf(),
  'image/gif': gifOf(),
  'image/webp': webpOf(),
  'application/pdf': pdfOf(),
};

/** Content that no format accepts, by what it is. */
export const UNSENDABLE: Readonly<Record<string, Uint8Array>> = {
  empty: new Uint8Array(),
  'cut png': pngOf().subarray(0, 40),
  'png header alone': pngOf().subarray(0, 8),
  'cut jpeg': jpegOf().subarray(0, 30),
  'cut gif': gifOf().subarray(0, 20),
  'cut webp': webpOf().subarray(0, 25),
  'png without pixels': pngOf({ width: 0 }),
  svg: textOf('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
  html: textOf('<!doctype html><title>404</title>'),
  json: textOf('{"error":"no such image"}'),
  heic: joined([0, 0, 0, 24], ascii('ftypheic'), [0, 0, 0, 0], ascii('mif1heic')),
  avif: joined([0, 0, 0, 24], ascii('ftypavif'), [0, 0, 0, 0], ascii('mif1avif')),
  bmp: joined(ascii('BM'), [58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0]),
  tiff: joined([0x49, 0x49, 0x2a, 0, 8, 0, 0, 0]),
  'random bytes': Uint8Array.from([1, 2, 3, 250, 251, 0, 9]),
};
